// The mod of ccd: written by ccd agents install, CHECKSUM.
// Before Claude Code compacts a session, it asks ccd for the new context, and before a long output of a tool enters the
// context, for an excerpt. Whatever goes wrong, Claude Code does what it does without ccd. It starts one program, ccd, and
// reads and writes nothing else.
const CCD = COMMAND
const LONG = OUTPUT // characters of an output; 0: none is long
const HEAD = '---\nccd: 1\nlive: '

// The answer of ccd, or why there is none.
const ccd = async ($, event, body, timeoutMs) => {
  try {
    const { transcriptPath } = await $.session.info()
    const stdin = JSON.stringify({ session_id: await $.session.id(), cwd: await $.session.cwd(), transcript_path: transcriptPath, ...body })
    const run = await $.process.run([...CCD, event], { stdin, timeoutMs })
    if (run.exitCode !== 0) return { why: `exit status ${run.exitCode}` }
    return run.stdout && !run.isStdoutTruncated ? JSON.parse(run.stdout) : { why: 'no answer' }
  } catch (e) {
    return { why: String(e?.message ?? e) }
  }
}

// Without handles: Claude Code would resume rows with handles as the old history.
const plain = m => ({
  role: m.role,
  text: m.text ?? '',
  toolUses: (m.toolUses ?? []).map(({ tool_use_id, tool, input }) => ({ tool_use_id, tool, input })),
  toolResults: (m.toolResults ?? []).map(({ tool_use_id, text, isError }) => ({ tool_use_id, text: text ?? '', isError: !!isError })),
})

const compact = async ($, e, next) => {
  if (e.agentId !== undefined) return next(e) // sub-agents compact in their own way
  const answer = await ccd($, 'SessionCompact', { source: e.trigger, instructions: e.instructions ?? '', messages: e.messages.map(plain) }, 9000)
  if (answer.skip) return { skip: answer.skip }
  if (answer.messages?.[0]?.text?.startsWith(HEAD)) return { messages: answer.messages }
  $.ui.toast(`ccd did not compact: ${answer.why ?? 'an empty answer'}`)
  return next(e)
}

const inputs = new Map() // of the calls under way

export const register = on => {
  on('session.compact', { trigger: 'precompute' }, () => ({ skip: 'ccd needs no summary ahead of time' }))
  on('session.compact', compact)

  on('session.append', { door: 'response' }, ($, e, next) => {
    for (const b of e.message.content ?? []) if (b.type === 'tool_use') inputs.set(b.id, b.input)
    return next(e)
  })
  on('session.append', { door: 'tool-result' }, async ($, e, next) => {
    let message = e.message
    for (const [i, b] of message.content.entries()) {
      const input = inputs.get(b.tool_use_id)
      inputs.delete(b.tool_use_id)
      const text = typeof b.content === 'string' ? b.content : (b.content ?? []).map(c => c.text ?? '').join('')
      const cut = text.startsWith('<persisted-output>') || text.startsWith('Error: result') // Claude Code has it in a file
      if (b.type !== 'tool_result' || !LONG || text.length < LONG && !cut) continue
      const answer = await ccd($, 'ToolResult', { tool_name: e.origin?.tool ?? '', tool_input: input ?? {}, content: b.content }, 3000)
      if (answer.content) message = { ...message, content: message.content.with(i, { ...b, content: answer.content }) }
    }
    return next(message === e.message ? e : { ...e, message })
  })

  on('ui.render', { component: 'UserMessage' }, ($, e, next) =>
    !e.props.isExpanded && e.props.text?.startsWith(HEAD)
      ? next({ ...e, props: { ...e.props, text: 'Compacted by ccd (ctrl+o shows it)' } })
      : next(e))
}
