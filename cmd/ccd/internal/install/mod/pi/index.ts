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
    const stop = () => {
      clearTimeout(late)
      run.kill('SIGKILL')
      run.stdout.destroy()
      reject(new Error('no answer'))
    }
    const late = setTimeout(stop, PATIENCE)
    signal?.addEventListener('abort', stop, { once: true })
    let out = ''
    run.stdout.setEncoding('utf8').on('data', (text: string) => { out += text })
    run.stdin.on('error', stop)
    run.on('error', stop).on('close', code => {
      if (code === 0) resolve(out)
      stop()
    })
    run.stdin.end(JSON.stringify(event))
  })

export default (pi: any) => {
  pi.on('session_before_compact', async (event: any, ctx: any) => {
    try {
      const { firstKeptEntryId, tokensBefore } = event.preparation
      const { summary } = JSON.parse(await ask({
        session_id: ctx.sessionManager.getSessionId(), transcript_path: ctx.sessionManager.getSessionFile(), cwd: ctx.cwd,
        source: event.reason ?? 'auto', instructions: event.customInstructions ?? '', first_kept: firstKeptEntryId,
      }, event.signal))
      if (summary?.trim()) return { compaction: { summary, firstKeptEntryId, tokensBefore } }
    } catch { /* Pi's own compaction */ }
  })
}
