const CCD = COMMAND
const PATIENCE = 9000 // ms

// Rejects in time, even if ccd does not end, or what it started holds its output open.
const ask = (event, signal) =>
  new Promise((resolve, reject) => {
    const run = spawn(CCD[0], [...CCD.slice(1), 'SessionCompact'], { stdio: ['pipe', 'pipe', 'ignore'] })
    const stop = why => {
      clearTimeout(late)
      run.kill('SIGKILL')
      run.stdout.destroy()
      reject(new Error(why))
    }
    const late = setTimeout(() => stop('no answer in time'), PATIENCE)
    signal?.addEventListener('abort', () => stop('aborted'), { once: true })
    let out = ''
    run.stdout.setEncoding('utf8').on('data', text => { out += text })
    run.stdin.on('error', () => {}) // its end says more
    run.on('error', e => stop(e.message)).on('close', code => {
      if (code === 0) resolve(out)
      stop(`exit status ${code}`)
    })
    run.stdin.end(JSON.stringify(event))
  })
