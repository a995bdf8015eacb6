import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { sql } from '../../src/database/index.ts';
import { startPlatform } from '../../src/platform.ts';
import { Browser } from '../harness/browser.ts';
import { copyEmbedded } from '../harness/database.ts';
import { startForgingProvider } from '../harness/forging-provider.ts';
import { adminKey } from '../harness/process.ts';
import { passProvider, startSignIn } from '../harness/sign-in.ts';
import { until } from '../harness/wait.ts';

test('no token, code, secret, cookie or claim is in the log, in a response or in the audit log', async () => {
  const lines: string[] = [];
  const log = pino(
    { level: 'trace' },
    new Writable({
      write: (chunk, _encoding, done) => {
        lines.push(String(chunk));
        done();
      },
    }),
  );
  await using idp = await startForgingProvider();
  const dataDir = await mkdtemp(join(tmpdir(), 'ap-sign-in-'));
  await copyEmbedded(dataDir);
  const config = readConfig({
    ...idp.env,
    DATA_DIR: dataDir,
    BOOTSTRAP_ADMIN_API_KEY: adminKey,
    LOG_LEVEL: 'trace',
  });
  const platform = await startPlatform(config, { log });
  try {
    const seen: string[] = [];
    const secrets = new Set(['the-client-secret', 'claim-of-hers']);
    const origin = `http://127.0.0.1:${platform.port}`;
    const attempt = async (account: string) => {
      const browser = new Browser();
      const url = await startSignIn(browser, origin);
      for (const name of ['state', 'nonce']) secrets.add(url.searchParams.get(name)!);
      const cookie = browser.cookiesFor(origin)!.split('=')[1]!;
      secrets.add(cookie);
      const callback = await passProvider(browser, url, account);
      for (const accept of ['text/html', 'application/json']) {
        const page = await browser.get(callback, { accept });
        seen.push(page.text);
        const session = browser.cookie(origin, 'ap_session');
        if (session) secrets.add(session);
      }
    };
    idp.script.sign = async (claims) => {
      const token = await idp.sign({ ...claims, team: 'claim-of-hers', secret_name: 'claim-of-hers' });
      secrets.add(token);
      return token;
    };
    for (const account of ['code-of-alice', 'code-of-bob'])
      secrets.add(`${account}~`).add(`access ${account}`).add(`refresh ${account}`);
    await until(
      async () => (await fetch(`${origin}/app/api/sign-in`, { redirect: 'manual' })).status === 303,
    );
    await platform.db.run((executor) =>
      sql`insert into role_mappings (id, claim, value, role)
        values (gen_random_uuid(), 'sub', 'code-of-alice', 'member')`.execute(executor),
    );
    await attempt('code-of-alice');
    await attempt('code-of-bob');
    for (const change of [
      { iss: 'x' },
      { aud: 'x' },
      { azp: 'x' },
      { nonce: 'x' },
      { exp: 1 },
      { big: 'x'.repeat(70_000) },
    ]) {
      idp.script.claims = (claims) => ({ ...claims, ...change });
      await attempt('code-of-alice');
    }
    idp.script.claims = (claims) => claims;
    for (const body of [
      { error: 'invalid_grant', error_description: 'claim-of-hers' },
      '{"access_token":"claim-of-hers',
    ]) {
      idp.script.replies.token = { status: 400, body };
      await attempt('code-of-alice');
    }
    idp.script.replies = { userinfo: { body: '{"sub":"code-of-alice","claim-of-hers' } };
    await attempt('code-of-alice');
    const { rows } = await platform.db.run((executor) => sql`select * from audits`.execute(executor));
    const written = [...lines, ...seen, JSON.stringify(rows)].join('\n');
    expect(lines.length).toBeGreaterThan(20);
    expect(rows.length).toBeGreaterThan(2);
    for (const secret of secrets) expect(written.includes(secret), secret).toBe(false);
  } finally {
    await platform.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
