// The mod of ccd, a plugin of OpenCode: written by ccd agents install, CHECKSUM.
// OpenCode has a model write the summary of a compaction. This exports the session for ccd, asks ccd for the text, asks the model for next to
// nothing, and puts the text in place of its answer. Whatever goes wrong, the summary is the model's own.
import { spawn } from 'node:child_process'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

ASK

// Writes what `opencode export` prints, where ccd reads it.
const exported = async (id, info, messages) => {
  const dir = join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'opencode', 'export')
  const path = join(dir, `${id}.json`)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  await writeFile(`${path}.part`, JSON.stringify({ info, messages }, null, 2), { mode: 0o600 })
  await rename(`${path}.part`, path)
  return path
}

const asksForSummary = m => m.parts.some(p => p.type === 'compaction')

export const Ccd = async ({ client, directory }) => {
  const due = new Map(), texts = new Map() // by session: what becomes of the prompt, and ccd's text
  const compact = async (id, head) => {
    const [{ data: info }, { data: all }] = await Promise.all([client.session.get({ path: { id } }), client.session.messages({ path: { id } })])
    const rest = all.slice(all.findIndex(m => m.info.id === head.at(-1).info.id) + 1)
    const answer = JSON.parse(await ask({
      session_id: id, transcript_path: await exported(id, info, all), cwd: directory,
      source: rest.findLast(asksForSummary)?.parts.some(p => p.auto) ? 'auto' : 'manual',
      first_kept: rest.find(m => !m.info.summary && !asksForSummary(m))?.info.id,
    }))
    if (!answer.summary?.trim()) throw new Error(answer.why ?? 'an empty answer')
    return answer.summary
  }
  return {
    'experimental.session.compacting': async ({ sessionID }, output) => { due.set(sessionID, output) },
    'experimental.chat.messages.transform': async (_, { messages }) => { // right after it: the messages to summarize
      const id = messages[0]?.info.sessionID, output = due.get(id)
      if (!due.delete(id)) return
      try {
        texts.set(id, await compact(id, messages))
        messages.length = 0
        output.prompt = 'ccd has the summary. Answer with the word "ok".'
      } catch (e) {
        texts.delete(id)
        client.tui.showToast({ body: { message: `ccd did not compact: ${e.message}`, variant: 'warning' } }).catch(() => {})
      }
    },
    'experimental.text.complete': async ({ sessionID, messageID }, output) => {
      const text = texts.get(sessionID)
      if (!text) return
      // If it cannot be asked, the text is ccd's: the model that writes it has seen no messages.
      const { data } = await client.session.message({ path: { id: sessionID, messageID } }).catch(() => ({ data: { info: { summary: true } } }))
      if (!data?.info.summary) return
      output.text = text
      texts.delete(sessionID)
    },
  }
}
