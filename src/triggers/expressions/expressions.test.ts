import { expect, it } from 'vitest';
import type { TriggerEvent } from '../event.ts';
import type { ExpressionFields } from './fields.ts';
import { expressionProblems, judge } from './index.ts';

const event = (body: unknown, more: Partial<TriggerEvent> = {}): TriggerEvent => ({
  id: 'e1',
  type: 'opened',
  source: 'bearer',
  subject: null,
  time: null,
  received_at: '2026-01-02T03:04:05.678Z',
  headers: { 'x-team': 'blue' },
  body,
  ...more,
});

interface Expressions {
  filter?: string;
  message?: string;
  name?: string;
  payload?: string;
  key?: string;
}

const fields = ({ filter, message, name, payload, key }: Expressions): ExpressionFields => ({
  filter: filter ?? null,
  mapping: { message: message ?? '', work_item_name: name ?? null, payload: payload ?? null },
  dedup: key === undefined ? null : { key, window_seconds: null },
});

const judgeOne = async (expressions: Expressions, body: unknown, maxPayloadBytes = 100_000) =>
  (await judge([{ definition: fields(expressions), event: event(body), maxPayloadBytes }]))[0]!;

const problems = (expressions: Expressions, scheme: string | null = null) =>
  expressionProblems(fields(expressions), scheme);

it.each([
  ['true', { a: 1 }, 'ready', null],
  ['event.body.action == "opened"', { action: 'opened' }, 'ready', null],
  ['event.body.action == "opened"', { action: 'closed' }, 'filtered', 'The filter was false.'],
  ['event.body.action == "opened"', {}, 'filtered', 'The filter was false: no field “action”.'],
  ['event.body.action == "opened"', 'text', 'filtered', 'The filter was false: no field “action”.'],
  ['event.body.a.b == 1', { a: null }, 'filtered', 'The filter was false: no field “b”.'],
  ['event.body.constructor == 1', {}, 'filtered', 'The filter was false: no field “constructor”.'],
  ['!(event.body.draft)', {}, 'filtered', 'The filter was false: no field “draft”.'],
  ['has(event.body.draft) && event.body.draft', {}, 'filtered', 'The filter was false.'],
  ['event.headers["x-team"] == "blue"', {}, 'ready', null],
  ['event.subject == null && event.time == null', {}, 'ready', null],
  ['event.body.n + 1.0 == 3.0 && event.body.n > 1', { n: 2 }, 'ready', null],
  ['event.body.n + 1 == 3', { n: 2 }, 'invalid', null],
  ['event.body.list[3] == 1', { list: [] }, 'invalid', null],
  ['event.body.n', { n: 2 }, 'invalid', 'The filter gave no boolean.'],
  ['event.body.name.lowerAscii().startsWith("ab")', { name: 'ABC' }, 'ready', null],
  ['event.body.list.exists(x, x.k == "v")', { list: [{ k: 'u' }, { k: 'v' }] }, 'ready', null],
  ['event.body.text.matches("^(a+)+$")', { text: `${'a'.repeat(50)}b` }, 'filtered', null],
])('the filter %s of %j makes the event %s', async (filter, body, outcome, reason) => {
  const judged = await judgeOne({ filter }, body);
  expect(judged.outcome).toBe(outcome);
  if (reason !== null) expect(judged).toMatchObject({ reason });
});

it('text is rendered, a string as it is and all else as JSON, and braces of maps and in quotes end nothing', async () => {
  const judged = await judgeOne(
    {
      message:
        'PR {{ event.body.n }} by {{event.body.by}}: {{ {"a": {"b": "}}"}} }}{{ event.body.list }} {{ \'}}\' }}',
      name: 'Review {{ event.body.n }}',
      payload:
        '{"n": event.body.n, "big": event.body.big, "size": size(event.body.list), "at": timestamp(event.received_at), "none": event.subject}',
      key: '[event.id, event.body.n]',
    },
    { n: 7, by: 'Ann', list: [1, 'x'], big: '9007199254740993' },
  );
  expect(judged).toEqual({
    outcome: 'ready',
    message: 'PR 7 by Ann: {"a":{"b":"}}"}}[1,"x"] }}',
    workItemName: 'Review 7',
    payload: { n: 7, big: '9007199254740993', size: 2, at: '2026-01-02T03:04:05.678Z', none: null },
    key: ['e1', 7],
  });
});

it('without a mapping the payload is the event, and the message is empty', async () => {
  expect(await judgeOne({}, { a: 1 })).toEqual({
    outcome: 'ready',
    message: '',
    workItemName: null,
    payload: { id: 'e1', type: 'opened', source: 'bearer', subject: null, time: null, data: { a: 1 } },
    key: null,
  });
});

it.each<[Expressions, string]>([
  [{ payload: '[1]' }, 'The payload must be an object.'],
  [{ payload: '{"a": event.body.zz}' }, 'The payload failed: there is no field “zz”.'],
  [{ message: '{{ event.body.zz }}' }, 'The message failed: there is no field “zz”.'],
  [{ message: '{{ event.body.long }}' }, 'The message has more than 10,000 characters.'],
  [{ message: '{{ "\\u0000" }}' }, 'The message has a character that cannot be stored.'],
  [
    { key: 'event.subject', payload: '{}' },
    'The deduplication key must be text that is not empty, a number, a boolean or a list.',
  ],
  [
    { key: '""', payload: '{}' },
    'The deduplication key must be text that is not empty, a number, a boolean or a list.',
  ],
  [{ payload: '{"a": event.body.long}' }, 'The payload has 10009 bytes; at most 5000 are allowed.'],
])('%j makes an event invalid', async (expressions, reason) => {
  expect(await judgeOne(expressions, { long: 'x'.repeat(10_001) }, 5000)).toEqual({
    outcome: 'invalid',
    reason,
  });
});

it('a name is cut at 200 characters', async () => {
  const judged = await judgeOne({ name: '{{ event.body.long }}' }, { long: '😀'.repeat(300) });
  expect(judged).toMatchObject({ workItemName: '😀'.repeat(200) });
});

it.each<[Expressions, string, number]>([
  [{ filter: 'event.body.a ==' }, 'filter', 14],
  [{ filter: 'true &&\n event.body.a ==' }, 'filter', 15],
  [{ filter: 'true || even.body' }, 'filter', 9],
  [{ filter: 'event.body.a.nope()' }, 'filter', 14],
  [{ filter: 'now() > 1' }, 'filter', 1],
  [{ filter: '[1].all(x, y > x)' }, 'filter', 12],
  [{ message: 'a {{ event.id' }, 'mapping.message', 3],
  [{ message: 'a {{ evnt.id }}' }, 'mapping.message', 6],
  [{ name: '{{}}' }, 'mapping.work_item_name', 3],
  [{ payload: '{"a": }' }, 'mapping.payload', 7],
  [{ key: 'foo' }, 'dedup.key', 1],
])('%j is refused at its field with the column', (expressions, path, column) => {
  const found = problems(expressions);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ path, column });
});

it.each([
  ['event.headers["x-a"]', 'hmac', false],
  ['event["headers"]["x-a"]', 'hmac', false],
  ['string(event)', 'stripe', false],
  ['event[event.body.f]', 'stripe', false],
  ['event.type', 'github', false],
  ['event.type', 'slack', true],
  ['event.subject', 'standard_webhooks', false],
  ['event.body.headers', 'hmac', true],
  ['[event.id, event.body.a]', 'hmac', true],
  ['event.headers["x-a"]', null, true],
])('a key %s under the scheme %s sees only what is signed', (key, scheme, allowed) => {
  expect(problems({ key }, scheme)).toHaveLength(allowed ? 0 : 1);
});

it('an expression that takes long is stopped, holds up no one, and the others of its batch are judged', async () => {
  const slow = fields({
    filter: 'event.body.l.all(x, event.body.l.all(y, event.body.l.all(z, x + y + z > 0.0)))',
  });
  const list = Array.from({ length: 2000 }, (_, i) => i + 1);
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  const judged = await judge(
    [true, false, true, false].map((isSlow) => ({
      definition: isSlow ? slow : fields({}),
      event: event({ l: list }),
      maxPayloadBytes: 100_000,
    })),
  );
  clearInterval(timer);
  expect(judged.map(({ outcome }) => outcome)).toEqual(['invalid', 'ready', 'invalid', 'ready']);
  expect(judged[0]).toMatchObject({ reason: 'The expressions took longer than 100 ms.' });
});

it('a list of thousands is a value of a body, but not of map', async () => {
  const body = { list: Array.from({ length: 20_000 }, (_, i) => i) };
  expect(await judgeOne({ payload: '{"n": size(event.body.list)}' }, body)).toMatchObject({
    payload: { n: 20_000 },
  });
  expect(await judgeOne({ payload: '{"n": event.body.list.map(x, x)}' }, body)).toMatchObject({
    outcome: 'invalid',
  });
});
