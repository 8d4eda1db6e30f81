// The mod of ccd, an extension of Pi: written by ccd agents install, CHECKSUM.
// Before Pi compacts a session, it asks ccd for the summary. Whatever goes wrong, Pi's own compaction runs. It starts one
// program, ccd, and reads and writes nothing else.
import { spawn } from 'node:child_process'

const CCD = COMMAND

const ask = (event: object, signal?: AbortSignal) =>
  new Promise<string>((resolve, reject) => {
    const run = spawn(CCD[0], [...CCD.slice(1), 'SessionCompact'], { stdio: ['pipe', 'pipe', 'ignore'], timeout: 9000, signal })
    let out = ''
    run.stdout.setEncoding('utf8').on('data', (text: string) => { out += text })
    run.on('error', reject).on('close', code => (code === 0 ? resolve(out) : reject(new Error(`exit ${code}`))))
    run.stdin.on('error', reject)
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
      if (summary) return { compaction: { summary, firstKeptEntryId, tokensBefore } }
    } catch { /* Pi's own compaction */ }
  })
}
