'use strict';
// What ccd's page does beyond reading: search as you type, keys, live growth, copying. Without it, every
// page can still be read.
document.documentElement.classList.add('js');
const $ = (q, from) => (from || document).querySelector(q);
const all = (q, from) => [...(from || document).querySelectorAll(q)];

// On a narrow screen, what is above the conversation or the list is folded, unless a filter is set. Where a session stands is open if the
// address names no record. A wide screen has no control to unfold anything.
const narrow = matchMedia('(max-width: 48rem)');
const fold = () => { for (const one of all('.more')) one.open = !narrow.matches || !!$('option:not(:first-child):checked, :checked[type=checkbox]', one) || one.matches('.begins') && !/[?&](at|to)=/.test(location.search); };
narrow.addEventListener('change', fold);
fold();

// get asks the server, and says above the page that it has ended: it does not answer, or another one does, which has not let
// this browser in. After that a page asks less often, at least
// each 15 seconds, and stops if another server answers. It returns the text of the answer, '' if there is none, or if the question was taken back.
let pause = 0, over = false;
async function get(address, options) {
  let got, text = '';
  try {
    got = await fetch(address, options);
    text = await got.text();
  } catch (e) {
    if (e.name === 'AbortError') return '';
    got = undefined;
  }
  over = !!got && got.status === 403;
  pause = got && !over ? 0 : Math.min(15000, Math.max(1000, 2 * pause));
  $('#ended').hidden = !pause;
  if (over) $('#ended').firstChild.data = 'This page belongs to a ccd web that has ended; to open it again, run ';
  return got && got.ok ? text : '';
}

// Search as you type: the server filters the titles of all sessions, and when the person stops, searches what was said.
const find = $('#find');
if (find) {
  let timer, later, running;
  const ask = async (titles) => {
    if (running) running.abort();
    running = new AbortController();
    const q = new URLSearchParams([...new FormData($('#filters'))].filter(([, value]) => value));
    const address = String(q) && '?' + q;
    q.set('part', '1');
    if (titles) q.set('titles', '1');
    const got = await get('/?' + q, { signal: running.signal });
    $('#rows').ariaLive = find.value ? 'polite' : 'off'; // a list that follows what happens is not read aloud
    if (got) {
      place(got, 'rows');
      history.replaceState(null, '', '/' + address); // to which Back leads
    }
    highlight(wordsOf(find.value), all('#rows .title, .found .snippet'));
  };
  find.addEventListener('input', () => {
    clearTimeout(timer);
    clearTimeout(later);
    timer = setTimeout(ask, 120, true);
    if (find.value.trim().length > 2) later = setTimeout(ask, 500, false);
  });
  for (const s of all('#filters select, #filters input[type=checkbox]')) s.addEventListener('change', () => $('#filters').requestSubmit());
}

// The first page looks again, while somebody looks at it and not at what the search shows.
// The title says in how many sessions an agent waits, or that this one does, also in a tab behind others.
// The browser tells it too, to a person who has asked for that.
const title = document.title, bell = $('#bell'), tells = 'Notification' in window;
let waits = 0;
function badge() {
  const waiting = all('#now .card.waiting h2, .strip h1:has(+ .state.waiting)'), n = waiting.length;
  document.title = (n ? '(' + n + ') ' : '') + title;
  if (n > waits && document.hidden && tells && Notification.permission === 'granted') new Notification(waiting[0].textContent, { body: 'waits for you', tag: 'ccd' });
  waits = n;
}
if (bell && tells) {
  bell.hidden = Notification.permission !== 'default'; // the person has answered
  bell.addEventListener('click', async () => { bell.replaceWith(await Notification.requestPermission() === 'granted' ? '' : 'Notifications are blocked by the browser'); });
}
if ($('#now')) {
  let turn = 0;
  badge();
  const look = async () => {
    if (find.value || document.hidden && ++turn % 10) return;
    const got = await get('/?part=now');
    if (got && !find.value) place(got, 'now', 'rows');
    badge();
  };
  setTimeout(function next() { look().finally(() => { if (!over) setTimeout(next, Math.max(3000, pause)); }); }, 3000);
}

// place makes elements as they are in a page that the server made. A list that grows at its beginning waits while it has the focus.
function place(text, ...ids) {
  const page = new DOMParser().parseFromString(text, 'text/html');
  for (const id of ids) {
    const old = document.getElementById(id), made = page.getElementById(id);
    if (old && made && (id === 'requests' || !old.contains(document.activeElement))) merge(old, made);
  }
  return page.getElementById('entries');
}

// merge changes only what differs, so that what is scrolled, open, or has the focus stays so.
function merge(old, made) {
  const have = [...old.childNodes], want = [...made.childNodes];
  want.forEach((w, i) => {
    const h = have[i];
    if (!h) old.append(w);
    else if (h.nodeName !== w.nodeName) h.replaceWith(w);
    else if (!w.attributes) { if (h.data !== w.data) h.data = w.data; }
    else if (!h.isEqualNode(w)) {
      const ours = a => a.name !== 'open' && a.name !== 'aria-current'; // the page's own
      for (const a of [...h.attributes].filter(ours)) if (!w.hasAttribute(a.name)) h.removeAttribute(a.name);
      for (const a of [...w.attributes].filter(ours)) h.setAttribute(a.name, a.value);
      merge(h, w);
    }
  });
  for (const h of have.slice(want.length)) h.remove();
}

// What a link leads to is open. A record without an entry leads to the next one that has one, or to the last.
const target = () => document.getElementById(location.hash.slice(1));
function reveal() {
  const id = location.hash.slice(1), to = target(), box = to && to.closest('.entry') && $('details', to.closest('.entry'));
  if (box) box.open = true;
  const list = all('.entry[id]'), next = !to && /^r-?\d+$/.test(id) && (list.find(e => +e.dataset.record >= +id.slice(1)) || list.pop());
  if (next) location.replace('#' + next.id);
}
addEventListener('hashchange', reveal);
reveal();

// A click on the chart leads to the record there.
document.addEventListener('click', e => {
  const plot = e.target.closest('#chart svg');
  if (!plot || e.target.closest('a')) return;
  const box = plot.getBoundingClientRect();
  const record = Math.round(1 + (plot.dataset.records - 1) * (e.clientX - box.left) / box.width);
  location.href = $('#life').dataset.base + '?at=' + record + '#r' + record;
});

// The words of a search are marked in what it found, and in the record that one of these leads to, where the first of them is in view. If
// the page cuts that record, and does not show all of them, the original does. What the search left out is not marked.
const query = new URLSearchParams(location.search), id = query.get('id'), hit = query.get('mark');
const wordsOf = text => (text.replace(/(^|\s)(-\S+|NOT\s+\S+|AND|OR)(?=\s|$)/g, ' ').match(/[\p{L}\p{N}_]+/gu) || []).map(w => w.toLowerCase());
function highlight(words, roots) { // returns the ranges that it marks
  const found = [], word = new RegExp(words.join('|'), 'giu');
  for (const root of words.length ? roots : []) {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) for (const m of texts.currentNode.data.matchAll(word)) {
      const range = new Range();
      range.setStart(texts.currentNode, m.index);
      range.setEnd(texts.currentNode, m.index + m[0].length);
      found.push(range);
    }
  }
  if (CSS.highlights) CSS.highlights.set('found', new Highlight(...found));
  return found;
}
const words = wordsOf(hit || query.get('q') || '');
if (words.length && !hit) highlight(words, all('#rows .title, .found .snippet'));
else if (words.length) {
  const entry = ($('.entry a.id[href$="id=' + CSS.escape(id || '') + '"]') || target() || document.body).closest('.entry'), shown = entry || $('#text') || $('#line');
  const found = highlight(words, [shown || []].flat()), has = new Set(found.map(r => String(r).toLowerCase()));
  if (entry && id && has.size < new Set(words).size && (!has.size || $('.rest', entry))) location.replace($('#life').dataset.base + '/r/' + entry.dataset.record + '?' + new URLSearchParams({ id, mark: hit }));
  addEventListener('load', () => { // the browser has gone to the record
    const [first] = found, box = first && first.startContainer.parentElement.closest('pre'), top = () => first.getBoundingClientRect().top;
    if (box) box.scrollTop += top() - box.getBoundingClientRect().top - box.clientHeight / 3;
    if (first && (top() < 0 || top() > innerHeight - 40)) scrollBy(0, top() - innerHeight / 3);
  });
}

// A box says which of several the page shows, and leads to the others. A click on it does not move the focus, where the next jump starts.
function box(name, n, of, go) {
  const step = (text, by) => Object.assign(document.createElement('button'), { type: 'button', textContent: text, title: 'key ' + (by > 0 ? name[0] : name[0].toUpperCase()), onclick: () => go(by) });
  $('#matches').replaceChildren(name + ' ' + n + ' of ' + of + ' ', step('↑', -1), ' ', step('↓', 1));
  $('#matches').hidden = false;
}
document.addEventListener('mousedown', e => { if (e.target.matches('#failed, #matches button')) e.preventDefault(); });

// A page that a search led to leads to what else it finds in the session.
let match = () => {};
if ($('#life') && hit) get('/?' + new URLSearchParams({ q: hit, kind: query.get('kind') || '', within: $('[name=within]').value, part: 1 })).then(text => {
  const made = new DOMParser().parseFromString(text, 'text/html'), record = a => +a.hash.slice(2);
  const list = all('.hits .where[href*="#"]', made).sort((a, b) => record(a) - record(b)), at = list.findIndex(a => a.search.includes('id=' + id));
  if (!list.length) return;
  match = by => list[at + by] ? location.assign(list[at + by].getAttribute('href')) : say(by > 0 ? 'No later match' : 'No earlier match');
  box('match', at + 1, list.length, match);
});

// Keys. What is a request, or failed, is on the page or has its record in a list.
const kinds = {
  request: () => [all('.entry.asked:not(.side)'), all('.turns [data-record]').map(e => +e.dataset.record)],
  failure: () => {
    const records = (($('#failed') || document.body).dataset.records || '').match(/-?\d+/g) || [];
    return [all('.entry.failed').filter(e => records.includes(e.dataset.record)), records.map(Number)];
  },
};
function jump(by, kind) {
  const [list, records] = kinds[kind](), line = 8;
  const on = list.indexOf(document.activeElement && document.activeElement.closest('.entry'));
  let at = on;
  if (at < 0) at = by > 0 ? list.findIndex(e => e.getBoundingClientRect().top > line) - 1 : list.findIndex(e => e.getBoundingClientRect().top >= line);
  if (at < 0 && by < 0) at = list.length;
  if (at === -2) at = list.length - 1;
  const ends = list.length ? list : all('.entry'), edge = ends[by > 0 ? ends.length - 1 : 0], beyond = edge && records.filter(n => by * n > by * edge.dataset.record);
  let to = list[at + by], record = !to && beyond && (by > 0 ? beyond[0] : beyond.pop());
  if (!to && !record && kind === 'failure') { // after the last failure comes the first; if none has the focus, the newest
    const first = by > 0 && on >= 0;
    record = records[first ? 0 : records.length - 1];
    to = (first ? list : list.toReversed()).find(e => +e.dataset.record === record);
  }
  if (to) {
    location.replace('#r' + to.dataset.record);
    to.focus({ preventScroll: true });
    to.scrollIntoView({ block: 'start' });
    count();
  } else if (record) location.href = $('#life').dataset.base + '?at=' + record + '#r' + record;
  else say((by > 0 ? 'No later ' : 'No earlier ') + kind);
}
function count() { // which of the failures has the focus
  const on = document.activeElement, [list, records] = kinds.failure(), record = +on.dataset.record;
  if (list.includes(on)) box('failure', records.indexOf(record) + list.filter(e => +e.dataset.record === record).indexOf(on) + 1, records.length, by => jump(by, 'failure'));
}
if ($('#life') && !hit) addEventListener('load', count);
document.addEventListener('click', e => { if (e.target.id === 'failed') jump(1, 'failure'); });
let saying;
function say(text) { // for a moment
  clearTimeout(saying);
  $('#told').textContent = text;
  saying = setTimeout(say, 2500, '');
}
function through(from, by) { // what the search shows
  const list = [find, ...all('#rows .title, #rows .where')], to = list[list.indexOf(from) + by];
  if (list.includes(from) && to) to.focus();
}
document.addEventListener('keydown', e => {
  const key = e.key, by = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (key === 'Escape' && e.target.id === 'within') e.target.blur();
  if (e.ctrlKey || e.metaKey || e.altKey || !by && /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  if (find && by && e.target.matches('#find, #rows a')) through(e.target, by);
  else if (key === '/') ($('#within') || $('#find, #q')).focus({ preventScroll: true });
  else if ($('#life') && (key === 'n' || key === 'j')) jump(1, 'request');
  else if ($('#life') && (key === 'p' || key === 'k')) jump(-1, 'request');
  else if ($('#life') && key.toLowerCase() === 'f') jump(key === 'f' ? 1 : -1, 'failure');
  else if ($('#life') && key.toLowerCase() === 'm') match(key === 'm' ? 1 : -1);
  else if ($('#life') && key === '?') $('.keys').classList.toggle('shown');
  else return;
  e.preventDefault();
});

const life = $('#life');

// The request in view is the current one of the list. What is new counts from the record that was the newest when the page was opened, or
// when its end or what is new was last in view.
let current, known = life && +$('#entries').dataset.records;
function follow() {
  const seen = all('.entry').filter(e => e.getBoundingClientRect().bottom > 100 && e.getBoundingClientRect().top < innerHeight);
  const end = innerHeight + scrollY > document.documentElement.scrollHeight - 2;
  const top = seen.find(e => e === document.activeElement) || seen[end ? seen.length - 1 : 0], list = all('.turns [data-record]');
  const page = $('#entries').dataset, last = all('.entry').pop();
  if ('newest' in page && seen.some(e => e === last || +e.dataset.record > known)) {
    known = +page.records;
    $('#grown').hidden = true;
  }
  const here = top && list.filter(e => +e.dataset.record <= +top.dataset.record).pop() || list[0];
  if (!here || here === current) return;
  current = here;
  for (const e of list) e.ariaCurrent = e === here ? 'true' : null;
  $('aside').scrollTop = here.offsetTop - 60;
}
if (life) {
  follow();
  addEventListener('scroll', () => requestAnimationFrame(follow), { passive: true });
}

// Live growth. A page that is not seen asks seldom, and the server answers with nothing while nothing is new.
if (life) {
  const note = $('#grown'), now = $('#entries').dataset;
  let busy, turn = 0, seen = now.seen;
  badge();
  const grow = async () => {
    if (busy || document.hidden && ++turn % 40) return;
    busy = true;
    const got = await get(life.dataset.base + '/part?' + new URLSearchParams({ first: now.first, after: now.after, seen }));
    if (got) take(got);
    busy = false;
  };
  const take = text => {
    const atEnd = 'newest' in now, end = innerHeight + scrollY > document.documentElement.scrollHeight - 200;
    const part = place(text, 'strip', 'about', 'state', 'chart', 'steps', ...(atEnd ? ['requests', 'said'] : []));
    if (!part) return;
    badge();
    seen = part.dataset.seen;
    const fresh = +part.dataset.records - known;
    if (atEnd) {
      for (const e of all('#entries > .entry')) if (+e.dataset.record > +now.after) e.remove();
      const day = $('.day', part), last = all('#entries > .day').pop();
      if (day && last && day.textContent === last.textContent) day.remove();
      $('#entries').append(...part.childNodes);
      Object.assign(now, part.dataset);
      if (!('newest' in part.dataset)) delete now.newest;
    }
    note.hidden = fresh <= 0;
    if (fresh > 0) {
      const a = document.createElement('a');
      a.href = atEnd ? '#r' + (known + 1) : life.dataset.base + '?to=' + part.dataset.records;
      a.className = 'button';
      a.textContent = fresh + ' new ↓';
      note.replaceChildren(a);
    }
    if (atEnd && end) {
      if (fresh > 0 && $('.entry:focus')) document.activeElement.blur(); // what is new is looked at
      scrollTo(0, document.documentElement.scrollHeight);
    }
    follow();
  };
  const next = async () => { // at once, but for a session that takes long to read
    const began = performance.now();
    await grow().finally(() => { if (!over) setTimeout(next, Math.max(500, pause, 5 * (performance.now() - began))); });
  };
  next();
  document.addEventListener('visibilitychange', () => { if (!over) grow(); });
}

// Copy buttons. Where the browser does not copy, what it should have copied is shown and selected.
for (const b of all('[data-copy]')) {
  const from = document.getElementById(b.dataset.copy), label = b.textContent;
  b.hidden = !from;
  b.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(from.textContent);
      b.textContent = 'Copied';
      setTimeout(() => { b.textContent = label; }, 2000);
    } catch (e) {
      from.hidden = false;
      getSelection().selectAllChildren(from);
    }
  });
}
