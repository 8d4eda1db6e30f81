package gen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// codex writes one session of Codex.
type codex struct {
	*session
	total int // tokens billed so far
}

func newCodex(s *session) *codex { return &codex{session: s} }

// window is the context window, in tokens.
const window = 258400

func (c *codex) run(size int64) {
	c.write("session_meta", object{
		"id": c.id, "timestamp": stamp(c.now), "cwd": c.cwd, "originator": "codex_cli_rs", "cli_version": "0.124.0", "source": "cli", "model_provider": "openai",
		"base_instructions": object{"text": c.manual}, "git": object{"commit_hash": c.hex(20), "branch": "main"},
	})
	c.say("developer", "input_text", "<permissions instructions>\nFilesystem sandboxing is on.\n</permissions instructions>")
	c.say("user", "input_text", "# AGENTS.md instructions for "+c.cwd+"\n\n<INSTRUCTIONS>\n"+c.manual[:2000]+"</INSTRUCTIONS>")
	c.say("user", "input_text", "<environment_context>\n  <cwd>"+c.cwd+"</cwd>\n  <shell>bash</shell>\n</environment_context>")
	c.turns(size, func() {
		c.turn(size)
		if c.held/4 > window*8/10 {
			c.compact()
		}
	})
}

func (c *codex) write(typ string, payload object) { c.line(object{"type": typ, "payload": payload}) }

// item writes an item of the conversation, event a copy for the screen.
func (c *codex) item(payload object)  { c.write("response_item", payload) }
func (c *codex) event(payload object) { c.write("event_msg", payload) }

// say writes a message.
func (c *codex) say(role, typ, text string) {
	c.item(object{"type": "message", "role": role, "content": []object{{"type": typ, "text": text}}})
}

func (c *codex) turn(size int64) {
	c.event(object{"type": "task_started", "turn_id": c.uuid(), "model_context_window": window})
	c.write("turn_context", object{
		"cwd": c.cwd, "approval_policy": "on-request", "sandbox_policy": object{"mode": "workspace-write", "network_access": false},
		"model": "gpt-5.4-codex", "effort": "high", "summary": "auto", "user_instructions": c.manual[:4000],
	})
	prompt := c.said(c.draw(promptWords))
	c.say("user", "input_text", prompt)
	c.event(object{"type": "user_message", "message": prompt, "images": []string{}})
	for range 1 + c.low(30) {
		if c.step(); c.n >= size {
			break
		}
	}
	answer := c.said(c.between(30, 300))
	c.event(object{"type": "agent_message", "message": answer})
	c.say("assistant", "output_text", answer)
	c.event(object{"type": "task_complete", "last_agent_message": answer})
}

// step writes one reply of the model and the results of its calls.
func (c *codex) step() {
	if c.in(600) {
		title := "**" + c.prose(c.random, 5) + "**"
		c.event(object{"type": "agent_reasoning", "text": title})
		c.item(object{
			"type": "reasoning", "summary": []object{{"type": "summary_text", "text": title}}, "content": nil,
			"encrypted_content": "gAAAAAB" + c.base64(c.between(300, 1800)),
		})
	}
	if c.in(120) {
		c.patch()
	} else {
		c.shell()
	}
	held, out := 9000+c.held/4, c.between(50, 900)
	c.total += held + out
	c.event(object{"type": "token_count", "info": object{
		"total_token_usage":    object{"input_tokens": c.total, "cached_input_tokens": 0, "output_tokens": out, "reasoning_output_tokens": 0, "total_tokens": c.total},
		"last_token_usage":     object{"input_tokens": held, "cached_input_tokens": held * 9 / 10, "output_tokens": out, "reasoning_output_tokens": 0, "total_tokens": held + out},
		"model_context_window": window,
	}})
}

// compact writes the agent's own compaction: the whole new context in one record.
func (c *codex) compact() {
	c.held = 0
	summary := "Another language model started to solve this problem and produced a summary of its thinking process. " + c.said(900)
	c.write("compacted", object{"message": summary, "replacement_history": []object{
		{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": summary}}},
	}})
	c.event(object{"type": "context_compacted"})
}

var codexOutput = quantiles{{0, 1}, {300, 8}, {700, 50}, {930, 140}, {1000, 180}}

// shell writes a command: the call, the copy for the screen, and what the model saw.
func (c *codex) shell() {
	f := pick(c.random, c.files...)
	command, out, exit := c.command(f), c.output(c.draw(codexOutput)), c.IntN(10)/9
	if c.in(330) {
		from := c.IntN(len(f.lines))
		out = strings.Join(f.lines[from:min(from+len(out)/40, len(f.lines))], "\n") + "\n"
	}
	c.held += len(out)
	id := "call_" + c.hex(12)
	arguments, _ := json.Marshal(object{"command": command, "workdir": c.cwd}) // texts always have a JSON form
	c.item(object{"type": "function_call", "name": "shell_command", "arguments": string(arguments), "call_id": id})
	c.event(object{
		"type": "exec_command_end", "call_id": id, "command": []string{"bash", "-lc", command}, "cwd": c.cwd, "aggregated_output": out, "exit_code": exit, "status": "completed",
	})
	told := fmt.Sprintf("Exit code: %d\nWall time: %d.%d seconds\nOutput:\n%s", exit, c.IntN(30), c.IntN(9), out)
	c.item(object{"type": "function_call_output", "call_id": id, "output": told})
}

func (c *codex) patch() {
	f := pick(c.random, c.files...)
	was, made := c.edit(f)
	lines := slices.Concat([]string{"*** Begin Patch", "*** Update File: " + f.path, "@@"}, signed("-", was), signed("+", made), []string{"*** End Patch"})
	id := "call_" + c.hex(12)
	c.item(object{"type": "custom_tool_call", "status": "completed", "call_id": id, "name": "apply_patch", "input": strings.Join(lines, "\n")})
	c.item(object{"type": "custom_tool_call_output", "call_id": id, "output": "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nM " + f.path + "\n"})
}
