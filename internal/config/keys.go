package config

import (
	"strings"
	"time"

	"ccd/internal/agent/registry"
)

// section is one table of the file.
type section struct {
	name string
	doc  string
	keys []key
}

// key is one line of a section: its name, what it means (with its unit), its default, and where it stands in a Config.
type key struct {
	name  string
	doc   string
	def   any // as TOML gives it
	table bool
	in    func(c *Config) value
}

// sections is the one place where keys are listed. Their order is that of the example.
func sections() []section {
	return []section{
		{"watch", "Which transcripts are followed, and when a change counts.", watchKeys()},
		{"trigger", "When a session's companion is first written. Once it is, it follows its session.", triggerKeys()},
		{"models", "What is known of models.", modelKeys()},
		{"compaction", "What stays as it is, and what is replaced by a short form with an ID.", compactionKeys()},
		{"companion", "Where companions stand, and what they hold.", companionKeys()},
		{"archive", "The file that keeps every original.", archiveKeys()},
		{"summarizer", "A command that writes the summaries of what an agent said, instead of ccd itself. None is run unless it is named here.", summarizerKeys()},
		{"agents", "What agents may see with ccd agent and ccd mcp.", agentKeys()},
		{"log", "What the daemon tells, and where.", logKeys()},
	}
}

func watchKeys() []key {
	return []key{
		{
			"ignore", "Globs (* ? [a-z]) of what is not followed: on the path below a root, or on a file's or directory's\nown name.",
			[]any{},
			false,
			func(c *Config) value { return globs{&c.Watch.Ignore} },
		},
		{
			"settle", "A transcript is taken up when it has been quiet for so long.", "2s", false,
			func(c *Config) value { return span{&c.Watch.Settle, 10 * time.Millisecond} },
		},
		{
			"max_wait", "One that is never quiet is taken up so long after its first change.", "15s", false,
			func(c *Config) value { return span{&c.Watch.MaxWait, 10 * time.Millisecond} },
		},
		{
			"scan_interval", "Between two looks at everything: what no file event told of is found so late at the latest.", "60s", false,
			func(c *Config) value { return span{&c.Watch.ScanInterval, time.Second} },
		},
		{
			"poll", "Use no file events. Network and foreign file systems are polled anyway.", false, false,
			func(c *Config) value { return truth{&c.Watch.Poll} },
		},
		{
			"roots", "Directories with transcripts, by agent, in addition to the agent's own:\nclaude-code = [\"/srv/agents/claude/projects\"]\ncodex = [\"~/old-machine/sessions\"]",
			map[string]any{},
			true,
			func(c *Config) value { return roots{&c.Watch.Roots, c.home} },
		},
	}
}

func triggerKeys() []key {
	return []key{
		{
			"threshold", "Estimated tokens (characters * 4 / 3) of what the agent holds; \"auto\": from the model's window.", "auto", false,
			func(c *Config) value { return auto{&c.Trigger.Threshold} },
		},
		{
			"pressure", "Part of the model's context window that is full, above 0, at most 1.", 0.6, false,
			func(c *Config) value { return share{&c.Trigger.Pressure, true} },
		},
		{
			"min_savings", "Estimated tokens beyond the last 5 messages; below this neither of the two fires.", int64(20000), false,
			func(c *Config) value { return count[int64]{&c.Trigger.MinSavings, 0} },
		},
	}
}

func modelKeys() []key {
	shipped := map[string]any{"claude-": int64(200000), "claude-opus-5-5": int64(1000000), "gemini-": int64(1048576), "gpt-5": int64(272000)}
	return []key{
		{
			"windows", "Context windows in real tokens by the beginning of a model's name; the longest one that fits counts.\nThey are added to these. A window that the transcript states itself goes first; a name that ends in [1m]\nmeans 1000000; a model that is not listed is taken to have 200000, and shown as assumed.", shipped, true,
			func(c *Config) value { return windows{&c.Models.Windows} },
		},
	}
}

func compactionKeys() []key {
	return []key{
		{
			"recent_share", "Part of what the agent holds that stays verbatim, the newest, 0 to 1.", 0.3, false,
			func(c *Config) value { return share{&c.Compaction.RecentShare, false} },
		},
		{
			"recent_messages", "Messages that stay verbatim at the least.", int64(5), false,
			func(c *Config) value { return count[int]{&c.Compaction.RecentMessages, 0} },
		},
		{
			"recent_results", "Tool results younger than this, when the session was last written, stay verbatim.", "5m", false,
			func(c *Config) value { return span{&c.Compaction.RecentResults, 0} },
		},
		{
			"file_age", "File contents older than this are replaced.", "1h", false,
			func(c *Config) value { return span{&c.Compaction.FileAge, 0} },
		},
		{
			"talk_age", "Assistant text older than this is shortened.", "30m", false,
			func(c *Config) value { return span{&c.Compaction.TalkAge, 0} },
		},
		{
			"output_chars", "Command output of so many characters or more is replaced.", int64(1000), false,
			func(c *Config) value { return count[int]{&c.Compaction.OutputChars, 0} },
		},
		{
			"microcompact_keep", "Of tool results that are too long for their age the newest so many stay.", int64(3), false,
			func(c *Config) value { return count[int]{&c.Compaction.MicrocompactKeep, 0} },
		},
		{
			"microcompact_tokens", "Too long is what has more estimated tokens than this.", int64(1000), false,
			func(c *Config) value { return count[int]{&c.Compaction.MicrocompactTokens, 0} },
		},
		{
			"dedup", "Exact copies of 200 characters or more become references to the newest one.", true, false,
			func(c *Config) value { return truth{&c.Compaction.Dedup} },
		},
		{
			"near_dedup", "So do near copies: the same beginning, at least 85 % of the lines the same.", false, false,
			func(c *Config) value { return truth{&c.Compaction.NearDedup} },
		},
		{
			"contradictions", "What a later correction of the same topic supersedes is shortened to that.", false, false,
			func(c *Config) value { return truth{&c.Compaction.Contradictions} },
		},
		{
			"keep_importance", "Messages of this importance or more are never shortened, 0 to 1 (0.65 is a good value); 0: no message is\nkept for its importance.", 0.0, false,
			func(c *Config) value { return share{&c.Compaction.KeepImportance, false} },
		},
		{
			"keep_recent", "Newest messages of a plain list (ccd compact --format messages) that stay as they are.", int64(4), false,
			func(c *Config) value { return count[int]{&c.Compaction.KeepRecent, 0} },
		},
		{
			"keep_roles", "Messages of a plain list with these roles stay as they are.",
			[]any{"system"},
			false,
			func(c *Config) value { return list{&c.Compaction.KeepRoles} },
		},
		{
			"keep_patterns", "Messages of a plain list that match one of these regular expressions stay as they are.",
			[]any{},
			false,
			func(c *Config) value { return patterns{&c.Compaction.KeepPatterns} },
		},
		{
			"near_threshold", "Share of lines that near copies in a plain list have in common, above 0, at most 1.", 0.85, false,
			func(c *Config) value { return share{&c.Compaction.NearThreshold, true} },
		},
		{
			"contradiction_threshold", "Share of the topic that a correction in a plain list has in common with what it corrects, above 0, at most 1.", 0.15, false,
			func(c *Config) value { return share{&c.Compaction.ContradictionThreshold, true} },
		},
		{
			"large_output_tokens", "One output above this is reduced to its beginning and its error lines wherever it stands.", int64(40000), false,
			func(c *Config) value { return count[int]{&c.Compaction.LargeOutputTokens, 0} },
		},
		{
			"large_output_chars", "Characters of that beginning.", int64(2000), false,
			func(c *Config) value { return count[int]{&c.Compaction.LargeOutputChars, 0} },
		},
		{
			"summary_chars", "Characters of a summary at the most.", int64(600), false,
			func(c *Config) value { return count[int]{&c.Compaction.SummaryChars, 100} },
		},
		{
			"long_cap", "\"log\": that limit grows slowly with texts beyond 5000 characters; \"off\".", "off", false,
			func(c *Config) value { return choice{&c.Compaction.LongCap, []string{"off", "log"}} },
		},
		{
			"restore_file_tokens", "Estimated tokens of each file whose content comes back.", int64(5000), false,
			func(c *Config) value { return count[int]{&c.Compaction.RestoreFileTokens, 0} },
		},
		{
			"restore_total_tokens", "Estimated tokens of all of them.", int64(50000), false,
			func(c *Config) value { return count[int]{&c.Compaction.RestoreTotalTokens, 0} },
		},
		{
			"off", "Strategies and parts of a companion that are switched off, of: file, talk, output, result, microcompact, large, image, merge,\nentities, code-split, score, asked, corrections, plan, files, commands, errors, answers, decisions, agents, answer.\nanswer: the last answer goes under Now. decisions: words of decision make a sentence count more.",
			[]any{},
			false,
			func(c *Config) value { return names{&c.Compaction.Off} },
		},
	}
}

func companionKeys() []key {
	return []key{
		{
			"dir", "One directory for all companions; \"\": each beside its transcript.", "", false,
			func(c *Config) value { return path{&c.Companion.Dir, c.home} },
		},
		{
			"max_tokens", "Estimated tokens of a companion; 72000 are 54000 characters, about 17000 real tokens of English.", int64(72000), false,
			func(c *Config) value { return count[int]{&c.Companion.MaxTokens, 2000} },
		},
		{
			"refresh_idle", "After this time without changes, the end of a transcript is archived and its companion updated.", "30s", false,
			func(c *Config) value { return span{&c.Companion.RefreshIdle, 10 * time.Millisecond} },
		},
		{
			"restore_files", "Recently read or edited files whose last known content comes back.", int64(5), false,
			func(c *Config) value { return count[int]{&c.Companion.RestoreFiles, 0} },
		},
		{
			"keep_after_purge", "How long a companion is kept when its transcript is gone; \"0s\": for ever. The archive keeps the originals for ever.", "90d", false,
			func(c *Config) value { return span{&c.Companion.KeepAfterPurge, 0} },
		},
		{
			"host", "The machine's name as companions show it; \"\": its own.", "", false,
			func(c *Config) value { return text{&c.Companion.Host} },
		},
	}
}

func archiveKeys() []key {
	return []key{
		{
			"path", "The archive's file, on a local disk; \"\": archive.db in ccd's state directory.", "", false,
			func(c *Config) value { return path{&c.Archive.Path, c.home} },
		},
		{
			"max_size", "Size (\"20GB\") that the archive's file does not grow beyond; \"0\": no limit. When it is full, archiving\nstops and says so; nothing is deleted.", "0", false,
			func(c *Config) value { return size{&c.Archive.MaxSize} },
		},
		{
			"min_free", "Space (\"256MB\") that is always left free on the archive's disk.", "256MB", false,
			func(c *Config) value { return size{&c.Archive.MinFree} },
		},
	}
}

func summarizerKeys() []key {
	return []key{
		{
			"command", "Program (its name or its whole path) and arguments, such as [\"ollama\", \"run\", \"qwen3:8b\"] or [\"claude\", \"-p\"]. It reads\nwhat is asked and the text on stdin and prints the summary. Whoever it asks reads that text. []: none is run.",
			[]any{},
			false,
			func(c *Config) value { return command{&c.Summarizer.Command, c.home} },
		},
		{
			"timeout", "It is killed, with all that it has started, when it takes longer for one text.", "60s", false,
			func(c *Config) value { return span{&c.Summarizer.Timeout, time.Second} },
		},
	}
}

func agentKeys() []key {
	return []key{
		{
			"reach", "Sessions that agents can read: \"project\" or \"all\". The environment cannot set it.", ReachProject, false,
			func(c *Config) value { return choice{&c.Agents.Reach, []string{ReachProject, ReachAll}} },
		},
	}
}

func logKeys() []key {
	return []key{
		{
			"level", "\"debug\", \"info\", \"warn\" or \"error\".", "warn", false,
			func(c *Config) value { return choice{&c.Log.Level, []string{"debug", "info", "warn", "error"}} },
		},
		{
			"format", "\"text\" or \"json\".", "text", false,
			func(c *Config) value { return choice{&c.Log.Format, []string{"text", "json"}} },
		},
		{
			"file", "The file that the daemon writes it to, with five older ones of 2 MB beside it; \"\": stderr, which the journal\nof systemd keeps. Not below a root.", "", false,
			func(c *Config) value { return path{&c.Log.File, c.home} },
		},
	}
}

// agents are the names that watch.roots takes.
func agents() []string { return registry.Names() }

func defaults() Config {
	c := Config{sources: map[string]string{}}
	for _, s := range sections() {
		for _, k := range s.keys {
			if err := k.in(&c).set(k.def); err != nil {
				panic("default of " + s.name + "." + k.name + ": " + err.Error()) // a test would have found it
			}
		}
	}
	return c
}

func find(name string) (key, bool) {
	first, rest, _ := strings.Cut(name, ".")
	for _, s := range sections() {
		for _, k := range s.keys {
			if s.name == first && k.name == rest {
				return k, true
			}
		}
	}
	return key{}, false
}

func allKeys() []string {
	var names []string
	for _, s := range sections() {
		for _, k := range s.keys {
			names = append(names, s.name+"."+k.name)
		}
	}
	return names
}

// Example returns the text of config.toml.example: every key with its default, its unit and its meaning.
func Example() string {
	c := defaults()
	var b strings.Builder
	b.WriteString("# ccd's configuration: every key with its default. A file needs only what it changes.\n")
	b.WriteString("# Durations: \"500ms\", \"2s\", \"15m\", \"1h\", \"90d\". Sizes: \"256MB\", \"20GB\".\n")
	b.WriteString("# Every key except tables and agents.reach can also be set in the environment: CCD_WATCH_SETTLE=5s.\n")
	for _, s := range sections() {
		b.WriteString("\n# " + s.doc + "\n[" + s.name + "]\n")
		for _, k := range s.keys {
			doc := "# " + strings.ReplaceAll(k.doc, "\n", "\n# ") + "\n"
			if k.table {
				b.WriteString("\n" + doc + "[" + s.name + "." + k.name + "]\n" + k.in(&c).toml())
				continue
			}
			b.WriteString(doc + k.name + " = " + k.in(&c).toml() + "\n")
		}
	}
	return b.String()
}
