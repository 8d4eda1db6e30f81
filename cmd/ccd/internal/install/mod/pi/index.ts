// The mod of ccd, an extension of Pi: written by ccd agents install, CHECKSUM.
// Before Pi compacts a session, it asks ccd for the summary. Whatever goes wrong, Pi's own compaction runs. It starts one
// program, ccd, and reads and writes nothing else.
import { spawn } from 'node:child_process'

ASK

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
