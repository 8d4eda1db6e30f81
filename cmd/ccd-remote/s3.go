package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"ccd/internal/remote"
	"ccd/internal/remote/pulled"
	"ccd/internal/words"
)

// bucket is a prefix of a bucket in S3-compatible storage.
type bucket struct {
	core   minio.Core
	name   string
	prefix string // "" or ends in a slash
}

// patience is how often the client tries a request, with growing pauses, and how long it waits for each answer to begin.
type patience struct {
	tries int
	late  time.Duration
}

// answerTime is how long reading an answer may take: one of 64 MiB at 64 KiB a second.
const answerTime = 17 * time.Minute

// openBucket returns the store that a configuration names. It makes no request.
func openBucket(s pulled.Settings, p patience) (*bucket, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, usagef("open remote: %q is no s3://BUCKET/PREFIX", s.URL)
	}
	if err := s3utils.CheckValidBucketName(u.Host); err != nil {
		return nil, usagef("open remote: %s: %w", s.URL, err)
	}
	endpoint := cmp.Or(s.Endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	region := cmp.Or(s.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	transport, err := minio.DefaultTransport(!strings.HasPrefix(endpoint, "http://"))
	if err != nil {
		return nil, fmt.Errorf("open remote: %w", err)
	}
	transport.ResponseHeaderTimeout = p.late
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{}}
	o := minio.Options{Secure: true, Transport: transport, Region: region, MaxRetries: p.tries}
	host := "s3.amazonaws.com"
	if endpoint != "" {
		secure := false
		if host, secure, err = hostOf(endpoint); err != nil {
			return nil, err
		}
		o.Secure, o.BucketLookup = secure, minio.BucketLookupPath
		o.Region = cmp.Or(region, "us-east-1") // what servers other than Amazon's expect; asking would be one more request
	} else {
		providers = append(providers, &credentials.IAM{Client: &http.Client{Transport: transport, Timeout: 5 * time.Second}})
	}
	o.Creds = credentials.NewChainCredentials(providers)
	client, err := minio.New(host, &o)
	if err != nil {
		return nil, fmt.Errorf("open remote: %w", err)
	}
	client.SetAppInfo("ccd", words.Version(release))
	b := &bucket{core: minio.Core{Client: client}, name: u.Host, prefix: strings.Trim(u.Path, "/")}
	if b.prefix != "" {
		b.prefix += "/"
	}
	return b, nil
}

// hostOf returns the host of a server's address, and whether its connections are encrypted.
func hostOf(endpoint string) (host string, secure bool, err error) {
	e, err := url.Parse(endpoint)
	if err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" || strings.Trim(e.Path, "/") != "" {
		return "", false, usagef("open remote: endpoint %q is no http(s)://HOST[:PORT]", endpoint)
	}
	return e.Host, e.Scheme == "https", nil
}

// Causes of refused requests that a person can remove.
var (
	errClock = words.Hint(errors.New("the clock of this machine is wrong"),
		"set the clock of this machine, for example with timedatectl set-ntp true")
	errExpired = words.Hint(errors.New("the credentials have expired"),
		"get new credentials; keys that cron uses should not expire")
	errKey = words.Hint(errors.New("the store does not know the key, or the secret is wrong"),
		"check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials")
	errNoKey = words.Hint(errors.New("there are no credentials"),
		"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write ~/.aws/credentials, which cron also reads")
	errBucket = words.Hint(errors.New("the bucket does not exist"),
		"check the address (ccd remote add changes the endpoint); in a new bucket, ccd remote remove, add and push push everything")
)

// causes maps S3 error codes to them.
var causes = map[string]error{
	"RequestTimeTooSkewed": errClock, "RequestExpired": errClock,
	"ExpiredToken": errExpired, "ExpiredTokenException": errExpired, "TokenRefreshRequired": errExpired,
	"InvalidAccessKeyId": errKey, "SignatureDoesNotMatch": errKey, "InvalidToken": errKey,
	"NoSuchBucket": errBucket,
}

// longHash matches the part of a hash that a message leaves out.
var longHash = regexp.MustCompile(`([0-9a-f]{8})[0-9a-f]{24,}`)

// translate wraps the remote package's errors.
func (b *bucket) translate(what, name string, err error) error {
	if err == nil {
		return nil
	}
	name = longHash.ReplaceAllString(name, "$1")
	var request *url.Error
	if errors.As(err, &request) { // its text has the whole address
		err = request.Err
	}
	kind, r := remote.ErrBusy, minio.ErrorResponse{} // busy: the network
	if errors.As(err, &r) {
		kind = b.kind(r)
		if strings.HasPrefix(strings.TrimSpace(r.Message), "<") { // a page for people
			err = fmt.Errorf("HTTP status %d", r.StatusCode)
		}
	}
	if kind == nil {
		return fmt.Errorf("%s %s: %w", what, name, err)
	}
	return fmt.Errorf("%s %s: %w: %w", what, name, kind, err)
}

// kind returns the error that an answer stands for: one of causes, or of package remote. It returns nil for any other answer.
func (b *bucket) kind(r minio.ErrorResponse) error {
	if cause := causes[r.Code]; cause != nil {
		return cause
	}
	switch r.StatusCode {
	case http.StatusPreconditionFailed:
		return remote.ErrConflict
	case http.StatusNotFound:
		return remote.ErrAbsent
	case http.StatusForbidden, http.StatusUnauthorized:
		if v, err := b.core.GetCreds(); err == nil && v.AccessKeyID == "" {
			return errNoKey
		}
		return remote.ErrDenied
	case http.StatusTooManyRequests, http.StatusConflict:
		return remote.ErrBusy
	}
	if r.StatusCode < 300 || r.StatusCode >= 500 || slices.Contains([]string{"SlowDown", "RequestTimeout", "IncompleteBody"}, r.Code) {
		return remote.ErrBusy
	}
	return nil
}

// again calls do twice if it fails for a reason that may pass: the client does not try again when an answer breaks off.
func again(do func() error) error {
	err := do()
	if errors.Is(err, remote.ErrBusy) {
		err = do()
	}
	return err
}

// Get implements remote.Store.
func (b *bucket) Get(ctx context.Context, name string, n int64) (data []byte, tag string, err error) {
	err = again(func() error {
		data, tag, err = b.get(ctx, name, n)
		return err
	})
	return data, tag, err
}

func (b *bucket) get(ctx context.Context, name string, n int64) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var o minio.GetObjectOptions
	if n >= 0 {
		if err := o.SetRange(0, n-1); err != nil {
			return nil, "", fmt.Errorf("get %s: %w", name, err)
		}
	}
	r, info, _, err := b.core.GetObject(ctx, b.name, b.prefix+name, o)
	if err != nil {
		return nil, "", b.translate("get", name, err)
	}
	defer r.Close()
	const most = remote.MaxObject
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if len(data) > most {
		return nil, "", fmt.Errorf("get %s: it has more than %d bytes", name, most)
	}
	if err == nil && info.Size >= 0 && int64(len(data)) != info.Size {
		err = io.ErrUnexpectedEOF
	}
	return data, info.ETag, b.translate("get", name, err)
}

// Put implements remote.Store.
func (b *bucket) Put(ctx context.Context, name string, data []byte, create bool) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	o := minio.PutObjectOptions{
		DisableMultipart: true, // several parts would ignore the condition
		SendContentMd5:   true, // Amazon refuses an object under Object Lock without it
		ContentType:      "application/octet-stream",
	}
	if create {
		o.SetMatchETagExcept("*")
	}
	info, err := b.core.Client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(data), int64(len(data)), o)
	if err == nil && info.ETag == "" { // every store sends one, a captive portal does not
		err = errors.New("the server is not an object store")
	}
	return b.translate("put", name, err)
}

// List implements remote.Store.
func (b *bucket) List(ctx context.Context, prefix, after string) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		var all []remote.Object
		err := again(func() (err error) {
			all, err = b.list(ctx, prefix, after)
			return err
		})
		for _, o := range all {
			if !yield(o, nil) {
				return
			}
		}
		if err != nil {
			yield(remote.Object{}, err)
		}
	}
}

func (b *bucket) list(ctx context.Context, prefix, after string) (all []remote.Object, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	o := minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}
	if after != "" {
		o.StartAfter = b.prefix + prefix + after
	}
	for o := range b.core.Client.ListObjects(ctx, b.name, o) {
		if o.Err != nil {
			return all, b.translate("list", prefix, o.Err)
		}
		all = append(all, remote.Object{Name: strings.TrimPrefix(o.Key, b.prefix), Size: o.Size, Modified: o.LastModified, Tag: o.ETag})
	}
	return all, b.translate("list", prefix, ctx.Err()) // the client ends the list then as if it were complete
}

// Delete implements remote.Store.
func (b *bucket) Delete(ctx context.Context, name string) error {
	key := b.prefix + name
	versions, err := b.versions(ctx, key)
	for _, v := range versions {
		if err = b.translate("delete", name, b.core.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{VersionID: v})); err != nil {
			break
		}
	}
	if errors.Is(err, remote.ErrAbsent) {
		return nil
	}
	return err
}

// versions returns the IDs of an object's versions, oldest first; in a bucket without versions one empty ID.
func (b *bucket) versions(ctx context.Context, key string) (all []string, err error) {
	info, err := b.core.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	if err != nil {
		return nil, b.translate("delete", key, err)
	}
	if info.VersionID == "" {
		return []string{""}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for o := range b.core.Client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: key, Recursive: true, WithVersions: true}) {
		if o.Err != nil {
			return nil, b.translate("list versions of", key, o.Err)
		}
		if o.Key == key {
			all = append(all, o.VersionID)
		}
	}
	slices.Reverse(all) // else an older version would be the present one
	return all, nil
}
