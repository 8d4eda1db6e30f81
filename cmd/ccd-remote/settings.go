package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"filippo.io/age"

	"ccd/internal/atomicfile"
	"ccd/internal/ownfile"
	"ccd/internal/remote"
	"ccd/internal/remote/pulled"
	"ccd/internal/words"
)

const (
	identityFile = pulled.Identity
	mostFile     = 1 << 20
)

func lines(text string) io.Reader { return strings.NewReader(text + "\n") }

func (a *app) settings() (s pulled.Settings, err error) {
	if s, err = pulled.ReadSettings(a.dir); err == nil && s.URL == "" {
		err = words.Hint(errors.New("there is no remote yet"), "ccd remote add s3://BUCKET/PREFIX")
	}
	return s, err
}

func (a *app) add(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return usagef("parse command line: expected s3://BUCKET/PREFIX")
	}
	s, err := a.settings()
	if url := strings.TrimSuffix(args[0], "/"); err == nil && s.URL != url {
		return words.Hint(fmt.Errorf("add remote: this machine's copy is in %s already", s.URL), "ccd remote remove")
	} else if err != nil {
		s = pulled.Settings{URL: url}
	}
	a.changed(&s)
	next := "next: ccd remote push; let cron run ccd remote push -q every 5 minutes"
	if own, err := a.ownRecipients(); err == nil {
		next += "; keep a copy of the identity elsewhere, without it the copy cannot be read"
		for _, r := range own {
			if !slices.Contains(s.Recipients, r) {
				s.Recipients = append(s.Recipients, r)
			}
		}
	}
	if len(s.Recipients) == 0 {
		return words.Hint(errors.New("add remote: there is no recipient, so the copy could not be read"), "ccd remote keys, or add --recipient age1...")
	}
	if _, err := parseRecipients(s.Recipients); err != nil {
		return err
	}
	b, err := openBucket(s, patience{2, a.late}) // a person waits
	if err != nil {
		return err
	}
	if err := remote.Begin(ctx, b); err != nil {
		err = fmt.Errorf("add remote: %w", err)
		if errors.Is(err, remote.ErrBusy) && s.Endpoint == "" {
			err = words.Hint(err, "add --endpoint URL for a store that is not Amazon's, or try again later")
		}
		return err
	}
	if err := pulled.WriteSettings(a.dir, s); err != nil {
		return err
	}
	a.say("%s", next)
	return a.print(s, "%s", s.URL)
}

// changed changes the settings that the command line gives.
func (a *app) changed(s *pulled.Settings) {
	if a.given("endpoint") {
		s.Endpoint = a.Endpoint
	}
	if a.given("region") {
		s.Region = a.Region
	}
	if a.given("recipient") {
		s.Recipients = nil
	}
	for _, r := range a.Recipients {
		s.Recipients = append(s.Recipients, strings.TrimSpace(r))
	}
}

// remove forgets where the copy is. It deletes nothing in the bucket.
func (a *app) remove(context.Context, []string) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	st, _ := pulled.ReadPush(a.dir) // its errors must not prevent this
	for _, name := range []string{pulled.SettingsFile, "status.json", "machine.db"} {
		if err := os.Remove(a.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove remote: %w", err)
		}
	}
	a.say("this machine no longer pushes; the identity and the pulled sessions stay in %s", a.dir)
	if st.Machine != "" {
		a.say("the copy stays in the bucket, and ccd remote add begins another one; to delete it, remove ccd2/heads/%[1]s, then ccd2/m/%[1]s/", st.Machine)
	}
	return a.print(s, "%s", s.URL)
}

// identities returns the reader's keys: of --identity, else of this account.
func (a *app) identities() ([]age.Identity, error) {
	file := cmp.Or(a.Identity, a.path(identityFile))
	b, err := ownfile.Read(file, mostFile)
	if err != nil {
		return nil, words.Hint(fmt.Errorf("read identity: %w", err), "ccd remote pull --identity FILE, with the file that ccd remote keys wrote on a reader's machine")
	}
	all, err := age.ParseIdentities(bytes.NewReader(b))
	if err != nil {
		return nil, words.Hint(fmt.Errorf("read identity %s: %w", file, err), "restore the file from the copy of it that you keep elsewhere")
	}
	return all, nil
}

// ownRecipients returns the recipients of the reader's keys.
func (a *app) ownRecipients() (all []string, err error) {
	identities, err := a.identities()
	for _, i := range identities {
		switch i := i.(type) {
		case *age.X25519Identity:
			all = append(all, i.Recipient().String())
		case *age.HybridIdentity:
			all = append(all, i.Recipient().String())
		}
	}
	return all, err
}

// keysOutput is what `ccd remote keys --json` prints.
type keysOutput struct {
	Identity   string   `json:"identity"`   // path
	Own        []string `json:"own"`        // recipients of the identity
	Recipients []string `json:"recipients"` // that this machine encrypts to
}

// keys creates a reader's identity, or takes one over from a file, and shows the recipients.
func (a *app) keys(context.Context, []string) error {
	file := a.path(identityFile)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		if err := a.newIdentity(file); err != nil {
			return err
		}
		if s, err := a.settings(); err == nil && a.Identity == "" {
			a.say("it cannot read what was pushed before: run ccd remote add %s, then ccd remote gc --all, which encrypts everything for it too", s.URL)
		}
	}
	a.Identity = ""
	own, err := a.ownRecipients()
	if err != nil {
		return err
	}
	out := keysOutput{Identity: file, Own: own, Recipients: []string{}}
	if s, err := a.settings(); err == nil {
		out.Recipients = s.Recipients
	}
	text := strings.Join(own, "\n")
	for _, r := range out.Recipients {
		if !slices.Contains(own, r) {
			text += "\n" + r
		}
	}
	return a.print(out, "%s", text)
}

func (a *app) newIdentity(file string) error {
	var text []byte
	if a.Identity != "" {
		b, err := ownfile.Read(a.Identity, mostFile)
		if err == nil {
			_, err = age.ParseIdentities(bytes.NewReader(b))
		}
		if err != nil {
			return fmt.Errorf("read identity %s: %w", a.Identity, err)
		}
		text = b
	} else {
		i, err := age.GenerateX25519Identity()
		if err != nil {
			return fmt.Errorf("create identity: %w", err)
		}
		text = fmt.Appendf(nil, "# identity of a reader of ccd's copies; keep it secret, and a copy of it elsewhere\n# public key: %s\n%s\n", i.Recipient(), i)
	}
	p, err := atomicfile.Prepare(file, 0o600, text)
	if err == nil {
		err = p.CommitNew()
	}
	if err != nil {
		return fmt.Errorf("write identity: %w", err)
	}
	a.say("wrote %s: keep a copy elsewhere, and away from machines that only push", file)
	return nil
}
