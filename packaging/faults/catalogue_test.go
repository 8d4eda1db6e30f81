package faults

// check is a test, or a fuzz target, of a package.
type check struct {
	pkg, name string
	tries     string // a regular expression whose group has the tries in the test's log; all matches are added
	each      int    // tries of a run, if it logs none; 0 means 1. Executions of a fuzz target; a long run has 200 times as many
	again     int    // how often a run repeats it; 0 means once. Unless it is 0, a long run repeats that with 10 seeds
}

// fault is a kind of fault and what ccd promises if it happens.
type fault struct {
	what, promise string
	checks        []check
	controls      []check // run with the checks: they fail if the checks see nothing
	not           string  // what is not promised or not tested
}

// catalogue has a row for each kind of fault.
var catalogue = []fault{
	{
		"torn writes", "A transcript that is written in pieces is archived byte for byte, and no fragment becomes a record.",
		[]check{
			{pkg: "watcher", name: "TestTailTornWriter", each: 2000, again: 3},
			{pkg: "daemon", name: "TestTornLineGoesOn"},
			{pkg: "daemon", name: "TestEveryByteAtRest"},
			{pkg: "cmd/ccd", name: "TestArchivedMeansAllBytes", each: 24, again: 2},
		},
		[]check{{pkg: "cmd/ccd", name: "TestLagIsReported"}},
		"A last line that is not whole is archived only after `refresh_idle` without changes.",
	},
	{
		"lost events", "A change whose event is lost is found by the next scan. Without inotify watches, ccd polls and says so.",
		[]check{
			{pkg: "watcher", name: "TestNewDirectoryRace", each: 100, again: 5},
			{pkg: "watcher", name: "TestBusyConsumerLosesNothing", tries: `(\d+) files`, again: 5},
			{pkg: "watcher", name: "TestRenamedDirectoryIsWatchedOn", again: 5},
			{pkg: "watcher", name: "TestLostEvents"},
			{pkg: "watcher", name: "TestBrokenSourceIsReplacedByPolling"},
			{pkg: "watcher", name: "TestWatchLimit"},
			{pkg: "cmd/ccd", name: "TestInotifyLimits", each: 3},
			{pkg: "cmd/ccd", name: "TestDirectoriesRenamedInFlight", each: 10, again: 3},
		},
		nil, "A file that is created and deleted between two scans may never be seen.",
	},
	{
		"replaced and rewritten files", "A transcript that is truncated, replaced or rewritten becomes a new generation; the earlier one can be restored.",
		[]check{
			{pkg: "watcher", name: "TestTailGenerations"},
			{pkg: "daemon", name: "TestRewriteInPlace"},
			{pkg: "daemon", name: "TestGenerationsAndMoves"},
			{pkg: "archive", name: "TestRewritesCostWhatHasChanged", tries: `(\d+) rewrites`},
			{pkg: "archive", name: "TestRewritesOfAnyKind"},
		},
		[]check{{pkg: "watcher", name: "TestTailBackFingerprintIsNeeded"}},
		"A version that is replaced before it is read is lost. A change that keeps length and times is found within 7 days.",
	},
	{
		"kill -9", "After `kill -9` nothing that was acknowledged is lost, and ccd continues where it was.",
		[]check{
			{pkg: "archive", name: "TestKilledAtAnyMoment", tries: `(\d+) kills`, again: 1},
			{pkg: "archive", name: "TestKilledWhileRewriting", tries: `(\d+) kills`, again: 2},
			{pkg: "daemon", name: "TestKilledAtAnyMoment", tries: `(\d+) kills`, again: 1},
			{pkg: "daemon", name: "TestSummariesKilledAtAnyMoment", each: 15, again: 2},
		},
		[]check{{pkg: "archive", name: "TestKillTestSeesALie"}},
		"What is not acknowledged yet is archived after the next start.",
	},
	{
		"failing system calls", "Whichever system call fails, or is the last one of the process, nothing that was acknowledged is lost and nothing half-written is read.",
		[]check{
			{pkg: "archive", name: "TestFailingSystemCalls", tries: `(\d+) runs`},
			{pkg: "archive", name: "TestBackupFailsAtAnyStep", tries: `(\d+) runs`},
			{pkg: "internal/atomicfile", name: "TestEveryStepMayFail", each: 5},
			{pkg: "cmd/ccd", name: "TestFewFileDescriptors", tries: `(\d+) (?:runs failed|were done)`},
		},
		nil, "The faults are EIO, ENOSPC, EINTR, too few file descriptors, and SIGKILL, one per run.",
	},
	{
		"power cuts", "After a power cut everything that was acknowledged is in the archive.",
		[]check{{pkg: "archive", name: "TestPowerCut", tries: `(\d+) power cuts`, again: 1}},
		[]check{{pkg: "archive", name: "TestPowerCutSeesMissingSyncs"}},
		"The test loses what was only in memory, on ext4. A disk that reorders or loses synced writes is not tested.",
	},
	{
		"bit rot", "A damaged archive never gives wrong bytes: a restore is exact or reports damage. Damage is repaired from transcripts that still exist.",
		[]check{
			{pkg: "archive", name: "TestFlippedBitsAreNeverServed", tries: `(\d+) flips`, again: 1},
			{pkg: "archive", name: "TestEveryDamageIsRebuilt", tries: `(\d+) damages`, again: 1},
			{pkg: "archive", name: "TestWritesToADamagedArchive", tries: `(\d+) (?:writes went|failed)`, again: 1},
			{pkg: "archive", name: "TestTruncatedFile"},
			{pkg: "archive", name: "TestHiddenEntriesAreDamage"},
			{pkg: "daemon", name: "TestDamageHealsFromTheSources", tries: `of (\d+) damages`},
			{pkg: "daemon", name: "TestDamageWithoutSources", tries: `(\d+) damages`},
			{pkg: "daemon", name: "TestDaemonHealsDamage", each: 3},
			{pkg: "cmd/ccd", name: "TestRestoreFromADamagedArchive", tries: `each of (\d+) archives`},
		},
		[]check{{pkg: "archive", name: "TestFlipTestSeesWrongBytes"}},
		"What is damaged and has no transcript any more is lost; `ccd archive verify` lists it. A page that leads to itself stops the process: bbolt follows it.",
	},
	{
		"full disk", "On a full disk ccd reports it, keeps what it has, and continues without a restart when there is space.",
		[]check{
			{pkg: "archive", name: "TestDiskThatFillsUp", tries: `(\d+) times full`},
			{pkg: "archive", name: "TestBackupToAFullDisk"},
			{pkg: "archive", name: "TestMinFree"},
			{pkg: "cmd/ccd", name: "TestStatusOfADaemonOnAFullDisk"},
		},
		nil, "What an agent deletes while the disk is full is lost. Running out of inodes is not tested.",
	},
	{
		"permissions", "What ccd may not read is reported, does not stop the rest, and is archived once it may be read. A read-only archive can be read.",
		[]check{
			{pkg: "cmd/ccd", name: "TestPermissionsChangedInFlight", each: 2, again: 2},
			{pkg: "cmd/ccd", name: "TestFilesOfOtherUsersAreRefused"},
			{pkg: "archive", name: "TestReadOnlyFileSystem", each: 3},
			{pkg: "watcher", name: "TestUnreadableDirectory"},
			{pkg: "watcher", name: "TestRootThatGoes"},
		},
		nil, "Immutable files (`chattr +i`) are not tested.",
	},
	{
		"hostile files", "Links, pipes, endless lines and damaged packed files neither hang ccd nor lead it out of the watched directories.",
		[]check{
			{pkg: "watcher", name: "TestStrangeFiles"},
			{pkg: "watcher", name: "TestTailRefusesWhatIsNotRegular"},
			{pkg: "watcher", name: "TestTailStaysBelowTheRoot"},
			{pkg: "watcher", name: "TestTailLongLines"},
			{pkg: "watcher", name: "TestTailMemoryIsBounded"},
			{pkg: "watcher", name: "TestTailPackedBomb"},
			{pkg: "internal/agent/registry", name: "TestBombs"},
			{pkg: "cmd/ccd", name: "TestFIFOsDoNotBlock"},
			{pkg: "cmd/ccd", name: "TestHostileTranscriptOnATerminal"},
			{pkg: "cmd/ccd", name: "TestHardLinksAreArchived"},
		},
		nil, "A million files are not tested. A hard link to a file of the same user is archived.",
	},
	{
		"arbitrary input", "No input makes a parser panic, and what is split is joined to the same bytes.",
		[]check{
			{pkg: "watcher", name: "FuzzTailJoined", each: 20000},
			{pkg: "internal/agent/registry", name: "FuzzRecordsLossless", each: 10000},
			{pkg: "archive", name: "FuzzUnpack", each: 20000},
			{pkg: "archive", name: "FuzzPointer", each: 20000},
			{pkg: "archive", name: "FuzzCutterPortions", each: 300},
			{pkg: "internal/mark", name: "FuzzQuoteIsExactAndInert", each: 20000},
			{pkg: "internal/config", name: "FuzzDecode", each: 20000},
			{pkg: "cmd/ccd/internal/tools", name: "FuzzPages", each: 20000},
		},
		nil, "",
	},
	{
		"restore", "`ccd restore` prints the archived bytes exactly.",
		[]check{
			{pkg: "daemon", name: "TestRestoreIsExact"},
			{pkg: "archive", name: "TestRestoreIsExactHoweverItWasCut", again: 3},
			{pkg: "cmd/ccd", name: "TestRealSessionsComeBack"},
		},
		nil, "The mode and the times of a transcript are not restored.",
	},
	{
		"many readers", "Readers beside a writer never see a torn file, and neither side waits forever.",
		[]check{
			{pkg: "archive", name: "TestReadersBesideAWriter", tries: `(\d+) reads`},
			{pkg: "archive", name: "TestWritersInOneProcess", again: 3},
			{pkg: "archive", name: "TestBackupBesideAWriter"},
			{pkg: "internal/atomicfile", name: "TestReaderNeverSeesATornFile", again: 3},
			{pkg: "daemon", name: "TestReaderNeverSeesATornCompanion", again: 3},
			{pkg: "cmd/ccd", name: "TestToolsWorkBesideAWriter"},
		},
		nil, "",
	},
	{
		"hours of trouble", "After kills, frozen processes and full disks every transcript comes back exactly, and a daemon does not grow with time.",
		[]check{
			{pkg: "packaging/soak", name: "TestSoak", tries: `(?:killed|frozen|filled):(\d+)`},
			{pkg: "packaging/soak", name: "TestSteady", tries: `(\d+) samples`},
		},
		[]check{{pkg: "packaging/soak", name: "TestSteadyCanFail"}},
		"The bounds over the second half: 4 MB of memory, 2 open files; the archive at most twice the transcripts.",
	},
	{
		"jumping clocks", "Times of files that jump by years lose neither bytes nor companions nor earlier versions.",
		[]check{
			{pkg: "cmd/ccd", name: "TestFileTimesJump", each: 12, again: 3},
			{pkg: "watcher", name: "TestStrangeTimes"},
			{pkg: "daemon", name: "TestRewriteOfEqualLengthIsSeenByItsTime"},
		},
		nil, "The machine's own clock is not moved.",
	},
	{
		"scale", "An idle daemon uses at most 16 MB of anonymous memory, and about 8 KB for each session in the archive.",
		[]check{{pkg: "cmd/ccd", name: "TestIdleMemory"}},
		nil, "50,000 sessions are not tested.",
	},
	{
		"locks and frozen processes", "One daemon runs per home. A frozen reader blocks no other reader; if the daemon is frozen, commands fail within 5 s and name it.",
		[]check{
			{pkg: "daemon", name: "TestTwoDaemons"},
			{pkg: "cmd/ccd", name: "TestOnlyOneRuns"},
			{pkg: "cmd/ccd", name: "TestFrozenReader", again: 2},
			{pkg: "cmd/ccd", name: "TestFrozenDaemon", again: 2},
			{pkg: "cmd/ccd", name: "TestStartWhileTheArchiveIsLocked"},
			{pkg: "cmd/ccd", name: "TestStopsWhileTheArchiveIsLocked"},
			{pkg: "archive", name: "TestReadersPassAWriterThatWaits"},
		},
		nil, "The tests allow 15 s on a busy machine. What writes has to wait until a frozen process continues.",
	},
	{
		"other versions", "An archive of another schema is refused and left as it is.",
		[]check{{pkg: "archive", name: "TestOtherSchemasAreRefused"}},
		nil, "A ccd cannot read an archive of another schema.",
	},
	{
		"originals", "Transcripts are only opened for reading.",
		[]check{
			{pkg: "daemon", name: "TestOriginalsAreNeverWritten"},
			{pkg: "cmd/ccd", name: "TestNoOriginalIsOpenedForWriting"},
			{pkg: "daemon", name: "TestForeignFileIsNeverTouched"},
		},
		nil, "`ccd setup` changes the agents' settings.",
	},
	{
		"secrets and injection", "No companion and no agent gets a secret of a known form. What was forgotten is in no file of ccd's, and does not come back from the same place of its transcript, a backup or a damaged file. Transcript text controls no terminal and does not pass for ccd's own.",
		[]check{
			{pkg: "archive", name: "TestForgetText"},
			{pkg: "archive", name: "TestForgottenStaysAway"},
			{pkg: "archive", name: "TestForgetCountsHardLinks"},
			{pkg: "archive", name: "TestEntriesInATranscriptAreNone"},
			{pkg: "archive", name: "TestTombstonesTellNothing"},
			{pkg: "cmd/ccd", name: "TestForgetMatch"},
			{pkg: "cmd/ccd", name: "TestRestoreForAnAgent"},
			{pkg: "cmd/ccd", name: "TestCanaries"},
			{pkg: "compactor", name: "TestSecretsAreNotPrinted"},
			{pkg: "cmd/ccd", name: "TestNoErrorRepeatsAConfiguration"},
			{pkg: "cmd/ccd", name: "TestNothingSteersATerminal"},
			{pkg: "cmd/ccd/internal/hook", name: "TestNoAnswerHoldsATag"},
		},
		nil, "The archive contains the secrets of the transcripts and is not encrypted ([SECURITY](../SECURITY.md)).",
	},
	{
		"service unit", "systemd accepts the unit, and rates its exposure as low.",
		[]check{
			{pkg: "packaging", name: "TestSystemdAcceptsUnit"},
			{pkg: "packaging", name: "TestExposure"},
		},
		nil, "launchd is not tested.",
	},
	{
		"interrupted rebuilds and removals", "If a rebuild, forget or gc fails at any step, an archive is in place that gives what it gave before. All that is not removed stays exact.",
		[]check{
			{pkg: "archive", name: "TestRebuildFailsAtAnyStep", tries: `(\d+) runs`},
			{pkg: "archive", name: "TestForgetKilled", tries: `(\d+) kills`, again: 2},
			{pkg: "archive", name: "TestRandomRemovals", tries: `(\d+) operations`, again: 5},
			{pkg: "archive", name: "TestReadWhileReplaced", each: 3},
			{pkg: "cmd/ccd", name: "TestGC"},
		},
		nil, "",
	},
}
