// The mod of ccd: written by ccd agents install, CHECKSUM.
// Before Claude Code compacts a session, it asks ccd for the new context. Whatever goes wrong, Claude Code's own
// compaction runs. It starts one program, ccd, and reads and writes nothing else.
const CCD = COMMAND
const HEAD = '---\nccd: 1\nlive: '

// Without handles: Claude Code would resume rows with handles as the old history.
const plain = m => ({
  role: m.role,
  text: m.text ?? '',
  toolUses: (m.toolUses ?? []).map(({ tool_use_id, tool, input }) => ({ tool_use_id, tool, input })),
  toolResults: (m.toolResults ?? []).map(({ tool_use_id, text, isError }) => ({ tool_use_id, text: text ?? '', isError: !!isError })),
})

const ask = async ($, e) => {
  try {
    const { transcriptPath } = await $.session.info()
    const stdin = JSON.stringify({
      sessionId: await $.session.id(), cwd: await $.session.cwd(), transcriptPath,
      trigger: e.trigger, instructions: e.instructions ?? '', messages: e.messages.map(plain),
    })
    const run = await $.process.run(CCD, { stdin, timeoutMs: 9000 })
    if (run.exitCode !== 0 || run.isStdoutTruncated || !run.stdout) return
    const answer = JSON.parse(run.stdout)
    if (answer.skip || answer.messages?.length) return answer
  } catch { /* undefined: the client's own compaction */ }
}

export const register = on => {
  on('session.compact', { trigger: 'precompute' }, () => ({ skip: 'ccd needs no summary ahead of time' }))
  on('session.compact', async ($, e, next) => {
    if (e.agentId !== undefined) return next(e) // sub-agents compact in their own way
    return await ask($, e) ?? next(e)
  })
  on('ui.render', { component: 'UserMessage' }, ($, e, next) =>
    !e.props.isExpanded && e.props.text?.startsWith(HEAD)
      ? next({ ...e, props: { ...e.props, text: 'Compacted by ccd (ctrl+o shows it)' } })
      : next(e))
}
