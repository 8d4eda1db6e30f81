// The mod of ccd, an extension of Pi: written by ccd agents install, CHECKSUM.
// Before Pi compacts a session, it asks ccd for the summary. Whatever goes wrong, Pi's own compaction runs. It starts one
// program, ccd, and reads and writes nothing else.
import { spawn } from 'node:child_process'

const CCD = COMMAND
const PATIENCE = 9000 // ms

// Rejects in time, even if ccd does not end, or what it started holds its output open.
const ask = (event: object, signal?: AbortSignal) =>
  new Promise<string>((resolve, reject) => {
    const run = spawn(CCD[0], [...CCD.slice(1), 'SessionCompact'], { stdio: ['pipe', 'pipe', 'ignore'] })
    const stop = (why: string) => {
      clearTimeout(late)
      run.kill('SIGKILL')
      run.stdout.destroy()
      reject(new Error(why))
    }
    const late = setTimeout(() => stop('no answer in time'), PATIENCE)
    signal?.addEventListener('abort', () => stop('aborted'), { once: true })
    let out = ''
    run.stdout.setEncoding('utf8').on('data', (text: string) => { out += text })
    run.stdin.on('error', () => {}) // its end says more
    run.on('error', e => stop(e.message)).on('close', code => {
      if (code === 0) resolve(out)
      stop(`exit status ${code}`)
    })
    run.stdin.end(JSON.stringify(event))
  })

export default (pi: any) => {
  pi.on('session_before_compact', async (event: any, ctx: any) => {
    let why = 'an empty answer'
    try {
      const { firstKeptEntryId, tokensBefore } = event.preparation
      const answer = JSON.parse(await ask({
        session_id: ctx.sessionManager.getSessionId(), transcript_path: ctx.sessionManager.getSessionFile(), cwd: ctx.cwd,
        source: event.reason ?? 'auto', instructions: event.customInstructions ?? '', first_kept: firstKeptEntryId,
      }, event.signal))
      if (answer.summary?.trim()) return { compaction: { summary: answer.summary, firstKeptEntryId, tokensBefore } }
      why = answer.why ?? why
    } catch (e: any) {
      why = e.message
    }
    if (ctx.hasUI && !event.signal?.aborted) ctx.ui.notify(`ccd did not compact: ${why}`, 'warning')
  })
}
