import { describe, expect, it } from 'vitest';
import { readWebhookEvent, slackResponse, type WebhookSettings, webhookSettings } from './index.ts';

const settingsOf = (settings: object): WebhookSettings => webhookSettings.parse(settings);

describe('the event of a delivery', () => {
  const read = (
    settings: object,
    headers: Record<string, string>,
    text: string | Buffer,
    signedHash: string | null = 'hash',
  ) =>
    readWebhookEvent(
      settingsOf(settings),
      { headers, body: Buffer.from(text as string) },
      { signedHash, receivedAt: new Date(0), occurrenceId: 'own' },
    );
  const bearer = { scheme: 'bearer' };

  it.each([
    ['application/json', '{"a":1}', { a: 1 }],
    ['application/vnd.x+json; charset=utf-8', '\ufeff{"a":1}', { a: 1 }],
    [undefined, '12345678901234567890', '12345678901234567890'],
    [
      'application/json',
      '[9007199254740992,9007199254740993,-9007199254740993,1e30]',
      [9007199254740992, '9007199254740993', '-9007199254740993', 1e30],
    ],
    ['text/plain', 'täxt', 'täxt'],
    [
      'application/x-www-form-urlencoded',
      'a=1&b=2&b=3&payload=%7B%22k%22%3A1%7D',
      { a: '1', b: ['2', '3'], payload: { k: 1 } },
    ],
    [undefined, '', null],
  ])('%s %s is parsed', (type, text, value) => {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    expect(read(bearer, headers, text)).toMatchObject({ event: { body: value }, invalid: null });
  });

  it.each([
    ['application/json', '{', 'The body is not JSON.'],
    ['application/json', '', 'The body is not JSON.'],
    [
      'application/json',
      '{"a":"\\u0000"}',
      'The body cannot be stored: a must not contain the character NUL.',
    ],
    [
      'application/json',
      '{"a":"\\ud800"}',
      'The body cannot be stored: a must not contain half of a surrogate pair.',
    ],
    ['text/plain', Buffer.from([0xff, 0xfe]), 'The body is not encoded in UTF-8.'],
    ['application/json', '['.repeat(300), 'The body nests arrays and objects deeper than 200 levels.'],
    [
      'application/cloudevents+json',
      '{"specversion":"1.0","id":"a","source":"b"}',
      'The CloudEvent has no type.',
    ],
  ])('%s %s is invalid', (type, text, invalid) => {
    expect(read(bearer, { 'content-type': type }, text)).toMatchObject({ invalid });
  });

  const cloud = {
    specversion: '1.0',
    id: '1',
    source: '/s',
    type: 't',
    subject: 'u',
    time: '2026-01-01T00:00:00Z',
  };
  const seen = {
    id: '1',
    source: '/s',
    type: 't',
    subject: 'u',
    time: '2026-01-01T00:00:00Z',
    body: { d: 1 },
  };
  it('has the attributes of a CloudEvent in both modes, and a batch is refused', () => {
    const type = { 'content-type': 'application/cloudevents+json' };
    const structured = JSON.stringify({ ...cloud, data: { d: 1 } });
    expect(read(bearer, type, structured)).toMatchObject({ identity: '["/s","1"]', event: seen });
    const headers = Object.fromEntries(Object.entries(cloud).map(([name, value]) => [`ce-${name}`, value]));
    expect(read(bearer, headers, '{"d":1}')).toMatchObject({ identity: '["/s","1"]', event: seen });
    // Headers are not signed.
    const hmac = { scheme: 'hmac', hmac: { header: 'X-Sig' } };
    expect(read(hmac, headers, '{"d":1}')).toMatchObject({ identity: 'hash' });
    expect(read(hmac, type, structured)).toMatchObject({ identity: '["/s","1"]' });
    expect(read(bearer, { 'content-type': 'application/cloudevents-batch+json' }, '[]')).toBeNull();
  });

  it('is the same whatever its unsigned headers, and is named as its sender names it', () => {
    const github = { scheme: 'github' };
    const headers = {
      'x-github-delivery': 'd1',
      'x-github-event': 'push',
      authorization: 'Bearer x',
      cookie: 'a=b',
      'x-hub-signature-256': 's',
    };
    expect(read(github, headers, '{"zen":"z","hook_id":1}')).toMatchObject({
      identity: 'hash',
      ping: true,
      event: {
        id: 'd1',
        type: 'push',
        source: 'github',
        headers: { 'x-github-delivery': 'd1', 'x-github-event': 'push' },
      },
    });
    expect(Object.keys(read(github, headers, '{}')!.event.headers)).toEqual([
      'x-github-delivery',
      'x-github-event',
    ]);
    expect(read({ scheme: 'slack' }, {}, '{"event_id":"E","event":{"type":"message"}}')).toMatchObject({
      identity: 'E',
      event: { type: 'message' },
    });
    expect(read({ scheme: 'slack' }, {}, '{}')).toMatchObject({ identity: 'hash' });
    expect(read({ scheme: 'stripe' }, {}, '{"id":"evt_1","type":"invoice.paid"}')).toMatchObject({
      identity: 'evt_1',
      event: { type: 'invoice.paid' },
    });
    expect(read({ scheme: 'gitlab' }, { 'idempotency-key': 'k' }, '{}', null)).toMatchObject({
      identity: 'k',
    });
    expect(read({ scheme: 'gitlab' }, {}, '{}', null)).toMatchObject({
      identity: null,
      event: { id: 'own' },
    });
    expect(read(bearer, { 'webhook-id': 'w', 'idempotency-key': 'k' }, '{}')).toMatchObject({
      identity: 'w',
    });
    expect(read(bearer, { 'agent-platform-depth': '3' }, '{}')).toMatchObject({ depth: 3 });
  });

  it('a form of 200,000 fields is read in one pass', () => {
    const form = Array.from({ length: 200_000 }, (_, i) => `k${i}=${i}`).join('&');
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(read(bearer, type, form)).toMatchObject({
      invalid: null,
      event: { body: { k0: '0', k199999: '199999' } },
    });
  });

  it('Slack is given its challenge, and nothing for a command', () => {
    expect(
      slackResponse({ headers: {}, body: Buffer.from('x') }, { type: 'url_verification', challenge: 'c' }),
    ).toEqual({ challenge: 'c' });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(slackResponse({ headers: form, body: Buffer.from('command=/x') }, {})).toBe('empty');
    expect(slackResponse({ headers: {}, body: Buffer.from('{}') }, { type: 'event_callback' })).toBeNull();
  });
});
