import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  authenticate,
  generateSecret,
  secretProblem,
  type WebhookSettings,
  webhookSettings,
} from './index.ts';

const settingsOf = (settings: object): WebhookSettings => webhookSettings.parse(settings);

const standard = settingsOf({ scheme: 'standard_webhooks' });

/** The settings of a scheme, its secret, and headers that sign a body at a time. */
const signers = (body: Buffer, seconds: number) => {
  const hmac = (secret: string | Buffer, text: string, algorithm = 'sha256') =>
    createHmac(algorithm, secret).update(text).update(body);
  const key = randomBytes(32);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const spki = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const signedBySender = Buffer.concat([Buffer.from(`msg_1.${seconds}.`), body]);
  const text = 'a secret of the sender';
  return [
    {
      settings: { scheme: 'standard_webhooks' },
      secret: `whsec_${key.toString('base64')}`,
      headers: {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${hmac(key, `msg_1.${seconds}.`).digest('base64')}`,
      },
    },
    {
      settings: { scheme: 'standard_webhooks' },
      secret: `whpk_${spki.toString('base64')}`,
      headers: {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1a,${sign(null, signedBySender, privateKey).toString('base64')}`,
      },
    },
    {
      settings: { scheme: 'github' },
      secret: text,
      headers: { 'x-hub-signature-256': `sha256=${hmac(text, '').digest('hex')}` },
    },
    {
      settings: { scheme: 'gitlab' },
      secret: `whsec_${key.toString('base64')}`,
      headers: {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${hmac(key, `msg_1.${seconds}.`).digest('base64')}`,
      },
    },
    {
      settings: { scheme: 'slack' },
      secret: text,
      headers: {
        'x-slack-request-timestamp': String(seconds),
        'x-slack-signature': `v0=${hmac(text, `v0:${seconds}:`).digest('hex')}`,
      },
    },
    {
      settings: { scheme: 'stripe' },
      secret: 'whsec_not base64 here',
      headers: {
        'stripe-signature': `t=${seconds},v1=${hmac('whsec_not base64 here', `${seconds}.`).digest('hex')}`,
      },
    },
    {
      settings: { scheme: 'hmac', hmac: { header: 'X-Sig' } },
      secret: text,
      headers: { 'x-sig': hmac(text, '').digest('hex') },
    },
    {
      settings: {
        scheme: 'hmac',
        hmac: {
          header: 'X-Sig',
          algorithm: 'sha512',
          encoding: 'base64',
          prefix: 's=',
          timestamp_header: 'X-Time',
          separator: ':',
        },
      },
      secret: text,
      headers: {
        'x-time': String(seconds),
        'x-sig': `s=${hmac(text, `${seconds}:`, 'sha512').digest('base64')}`,
      },
    },
  ].map(({ settings, secret, headers }) => ({
    settings: settingsOf(settings),
    secret,
    headers: headers as unknown as Record<string, string>,
  }));
};

const now = 1_800_000_000_000;
const body = Buffer.from('{"type":"x","n":1}');

describe('published vectors', () => {
  it('Standard Webhooks: the example of the specification', () => {
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const request = { headers, body: Buffer.from('{"test": 2432232314}') };
    const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];
    expect(authenticate(standard, secrets, request, 1_614_265_330_000).authentic).toBe(true);
    expect(authenticate(standard, secrets, request, 1_614_265_631_000)).toMatchObject({ reason: 'stale' });
  });

  it('GitHub: the example of its documentation', () => {
    const headers = {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    };
    const request = { headers, body: Buffer.from('Hello, World!') };
    expect(
      authenticate(settingsOf({ scheme: 'github' }), ["It's a Secret to Everybody"], request, now).authentic,
    ).toBe(true);
  });

  it('Slack: the example of its documentation', () => {
    const request = {
      headers: {
        'x-slack-request-timestamp': '1531420618',
        'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      },
      body: Buffer.from(
        'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
      ),
    };
    const secrets = ['8f742231b10e8888abcd99yyyzzz85a5'];
    expect(authenticate(settingsOf({ scheme: 'slack' }), secrets, request, 1_531_420_618_000).authentic).toBe(
      true,
    );
  });
});

it('each scheme takes what its sender signed, with either secret of a rotation, and nothing else', () => {
  for (const { settings, secret, headers } of signers(body, now / 1000)) {
    const check = (
      changed: Partial<{ headers: Record<string, string>; body: Buffer; secrets: string[]; at: number }>,
    ) =>
      authenticate(
        settings,
        changed.secrets ?? [secret],
        { headers: changed.headers ?? headers, body: changed.body ?? body },
        changed.at ?? now,
      );
    const label = JSON.stringify(settings);
    expect(check({}), label).toMatchObject({ authentic: true });
    const other = generateSecret(settings) ?? 'another secret of 16';
    expect(check({ secrets: [other, secret] }), label).toMatchObject({ authentic: true });
    expect(check({ secrets: [other] }), label).toMatchObject({ authentic: false, reason: 'wrong' });
    expect(check({ body: Buffer.concat([body, Buffer.from(' ')]) }), label).toMatchObject({
      reason: 'wrong',
    });
    for (const name of Object.keys(headers)) {
      const { [name]: _, ...rest } = headers;
      expect(check({ headers: rest }), `${label} without ${name}`).toMatchObject({ reason: 'missing' });
    }
    const isTimed = Object.values(headers).some((value) => value.includes(String(now / 1000)));
    expect(check({ at: now + 300_000 }).authentic, label).toBe(true);
    expect(check({ at: now + 300_001 }), label).toMatchObject(
      isTimed ? { reason: 'stale' } : { authentic: true },
    );
    expect(check({ at: now - 300_001 }), label).toMatchObject(
      isTimed ? { reason: 'stale' } : { authentic: true },
    );
  }
});

it('10,000 changed signatures, timestamps and ids are all refused', () => {
  const all = signers(body, now / 1000);
  fc.assert(
    fc.property(
      fc.nat(all.length - 1),
      fc.nat(10),
      fc.nat(200),
      fc.constantFrom('0', 'A', 'a', '=', ' ', ',', 'Z', '/', '+', '9', ''),
      (which, header, at, character) => {
        const { settings, secret, headers } = all[which]!;
        const names = Object.keys(headers);
        const name = names[header % names.length]!;
        const value = headers[name]!;
        const i = at % value.length;
        const changed = value.slice(0, i) + character + value.slice(i + 1);
        // A space at the end is no part of a value.
        fc.pre(changed.trim() !== value);
        const result = authenticate(
          settings,
          [secret],
          { headers: { ...headers, [name]: changed }, body },
          now,
        );
        expect(result.authentic, `${name}: ${changed}`).toBe(false);
      },
    ),
    { numRuns: 10_000 },
  );
});

it('hexadecimal in capitals and base64 with a changed padding bit are not the signature', () => {
  const [ed, hex] = [signers(body, now / 1000)[0]!, signers(body, now / 1000)[2]!];
  const upper = {
    'x-hub-signature-256': hex.headers['x-hub-signature-256']!.toUpperCase().replace('SHA', 'sha'),
  };
  expect(authenticate(hex.settings, [hex.secret], { headers: upper, body }, now).authentic).toBe(false);
  const signature = ed.headers['webhook-signature']!;
  const last = signature.at(-2)!;
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const padded = `${signature.slice(0, -2)}${letters[letters.indexOf(last) ^ 1]}=`;
  const headers = { ...ed.headers, 'webhook-signature': padded };
  expect(authenticate(ed.settings, [ed.secret], { headers, body }, now).authentic).toBe(false);
});

it('of more than 10 signatures the first 10 are looked at', () => {
  const { settings, secret, headers } = signers(body, now / 1000)[0]!;
  const good = headers['webhook-signature']!;
  const at = (before: number) =>
    authenticate(
      settings,
      [secret],
      {
        headers: {
          ...headers,
          'webhook-signature': [...Array<string>(before).fill('v1,AAAA'), good].join(' '),
        },
        body,
      },
      now,
    ).authentic;
  expect(at(9)).toBe(true);
  expect(at(10)).toBe(false);
});

it.each([
  [{ scheme: 'bearer' }, { authorization: 'Bearer a token of 16 chars' }, true],
  [{ scheme: 'bearer' }, { authorization: 'Basic a token of 16 chars' }, false],
  [{ scheme: 'bearer' }, { authorization: 'a token of 16 chars' }, false],
  [{ scheme: 'bearer' }, {}, false],
  [{ scheme: 'bearer', bearer: { header: 'X-Token' } }, { 'x-token': 'a token of 16 chars' }, true],
  [{ scheme: 'bearer', bearer: { header: 'X-Token' } }, { 'x-token': 'Bearer a token of 16 chars' }, false],
  [{ scheme: 'gitlab' }, { 'x-gitlab-token': 'a token of 16 chars' }, true],
  [{ scheme: 'gitlab' }, { 'x-gitlab-token': 'another token of 16' }, false],
  [{ scheme: 'none' }, {}, true],
] as [object, Record<string, string>, boolean][])('a token: %j with %j', (settings, headers, authentic) => {
  expect(authenticate(settingsOf(settings), ['a token of 16 chars'], { headers, body }, now).authentic).toBe(
    authentic,
  );
});

it('secrets are made for the schemes whose receiver makes them, and given ones are checked', () => {
  const made = (scheme: string) =>
    generateSecret(settingsOf({ scheme, ...(scheme === 'hmac' && { hmac: { header: 'X-A' } }) }));
  expect(made('standard_webhooks')).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(made('gitlab')).toMatch(/^whsec_/);
  for (const scheme of ['github', 'hmac', 'bearer']) expect(made(scheme)).toMatch(/^[0-9A-Za-z]{43}$/);
  for (const scheme of ['stripe', 'slack', 'none']) expect(made(scheme)).toBeNull();
  const problem = (scheme: string, secret: string) => secretProblem(settingsOf({ scheme }), secret);
  expect(problem('standard_webhooks', `whsec_${randomBytes(24).toString('base64')}`)).toBeNull();
  expect(problem('standard_webhooks', `whsec_${randomBytes(23).toString('base64')}`)).not.toBeNull();
  expect(problem('standard_webhooks', 'a token of 16 chars')).not.toBeNull();
  expect(problem('standard_webhooks', `whpk_${randomBytes(31).toString('base64')}`)).not.toBeNull();
  expect(problem('stripe', 'whsec_short')).not.toBeNull();
  expect(problem('github', 'ümlaut in a secret')).not.toBeNull();
  expect(problem('bearer', 'ends with a space ')).not.toBeNull();
});
