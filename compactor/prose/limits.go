package prose

// The classifiers' thresholds. What a user would change stands in Options; these are what the rules mean by their
// words, and a companion's version of the rules changes with them.
const (
	// The thirteen rules.
	shortText    = 120 // chars; shorter texts are kept
	proseToSplit = 80  // chars of prose beside a fence from which on a text is split

	// Tiers and hard reasons.
	proseWords    = 20   // words from which on clean prose is long
	codeLines     = 3    // lines of source code that make a text code
	indentedLines = 2    // lines in a row indented as code that make a text code
	keyLines      = 3    // `key: value` lines in a row that are YAML
	tableRows     = 2    // rows in a row that are a table
	columnRows    = 3    // rows in a row that are a table by their columns alone
	verseLines    = 3    // lines in a row that are verse
	frameLines    = 1    // stack frames that are a trace without a heading
	chainWords    = 3    // connectives of a formal chain of reasoning
	chainSteps    = 3    // numbered steps before a conclusion that are one
	base64Run     = 40   // bytes of a word from which on it may be base64
	secretRun     = 16   // bytes of a word from which on it may be a key
	symbolShare   = 0.12 // part of a text's bytes that are symbols from which on it is symbol-heavy
	raggedLines   = 8    // lines that are not prose from which on a text may be ragged
	raggedSpread  = 0.9  // standard deviation of their length over its mean from which on it is
	charsPerHit   = 1500 // chars of text for which one place of SQL, of a failure or the like is enough to keep it whole

	// Duplicates.
	DupChars   = 200  // chars of exact and near copies, at least
	nearLines  = 5    // first lines, blank ones left out, that tell candidates
	nearShared = 3    // of them that must be shared
	nearLength = 0.7  // ratio of lengths, at least
	nearLike   = 0.85 // Jaccard index of the lines, at least
	nearTries  = 16   // newer texts of one first line that are compared

	// Contradictions.
	topicOverlap = 0.15 // weighted Dice coefficient of the terms, at least
	crossRole    = 1.5  // factor on it where the roles differ
	topicTerms   = 128  // terms of one text that are looked at
	topicTries   = 32   // older texts of one term that are compared
	nameWeight   = 2    // of a term that is an identifier, a number or a path; words weigh 1

	// Importance.
	referenceShare  = 0.5
	decisionShare   = 0.15
	correctionShare = 0.25
	constraintShare = 0.10
	wordShare       = 0.4 // of decision, correction and constraint together, at most
	recencyShare    = 0.1
	focusShare      = 0.6 // of what holds a word in focus
	termsOfOne      = 256 // names of one text that are counted as references

	// Structured output.
	structuredLines = 6   // lines that are not blank, at least
	charsPerLine    = 80  // chars to a line, at most
	structuralShare = 0.5 // part of the lines that are structural, more than

	// Sentences.
	minSentence    = 12 // chars; shorter ones say nothing alone
	scoreName      = 3  // a camelCase, PascalCase or snake_case name
	scoreEmphasis  = 4
	scoreStatus    = 3
	scoreTurn      = 3 // a decision, a correction or a constraint
	scoreUnit      = 2 // a number with its unit
	scoreShortName = 2 // an abbreviation without vowels
	scorePlace     = 2 // file:line
	scoreLength    = 2 // of a good length
	scoreFiller    = -10
	scoreLeadIn    = -3  // ends in a colon: tells only that something follows
	goodShortest   = 40  // chars of a good length
	goodLongest    = 120 // chars of a good length
	mostNames      = 4   // of one kind that count in one sentence

	// Summaries.
	MinBudget     = 200  // chars of a summary, at least
	longText      = 5000 // chars of a text from which on the limit of summaries may grow
	charsPerName  = 200  // chars of text to an entity
	fewestNames   = 3
	mostEntities  = 15
	namesRanked   = 512 // distinct entities of a text that are ranked
	shortestProse = 120 // chars of prose between fences that are worth shortening
)
