import { verify } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { auditAll } from '../../src/audit/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { systemActor } from '../../src/lib/principal.ts';
import { until } from '../harness/wait.ts';
import { expectError, newAgent, newKey, ok, onPostgres } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: lines of JSON, read field by field
type Json = any;

const linesOf = (text: string): Json[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('the audit log', () =>
  onPostgres((at, database) => {
    const add = (count: number, action: string, more?: string) =>
      at().db.tx((tx) =>
        auditAll(
          tx,
          { ...systemActor, requestId: `request of ${action}` },
          Array.from({ length: count }, (_, n) => ({ action, targetId: String(n), details: { n, more } })),
        ),
      );
    const list = async (filter: string) =>
      (await ok(at().api.get(`/audits?limit=200&${filter}`))).data as Json[];
    const chained = () =>
      until(async () => (await ok(at().api.get('/audits/verify'))).unchained === 0, 10_000, 100);
    const exported = async (filter = '') => {
      const response = await at().api.get(`/audits/export?${filter}`);
      expect(response.status, response.text).toBe(200);
      expect(response.headers.get('content-disposition')).toBe('attachment; filename="audit-log.ndjson"');
      const lines = linesOf(response.text);
      return { entries: lines.slice(0, -1), last: lines.at(-1) };
    };

    test('a new log has no checkpoint', async () => {
      expectError(await at().api.get('/audits/checkpoint'), 404, /no checkpoint/);
      await newAgent(at());
      await chained();
      expect((await exported()).last).toEqual({ checkpoint: null });
    });

    test('an entry has its context next to its details: the address, the client and the key', async () => {
      const key = await newKey(at(), 'admin');
      const headers = { 'user-agent': `tester ${'x'.repeat(300)}`, 'x-request-id': 'context-1' };
      await ok(at().as(key.value).post('/agents', { name: 'of the context', mode: 'worker' }, { headers }));
      const [entry] = await list('request_id=context-1');
      expect(entry.context).toEqual({
        ip: '127.0.0.1',
        user_agent: headers['user-agent'].slice(0, 200),
        via: 'key',
        key_id: key.id,
        session_id: null,
      });
      expect(entry.details).toEqual({ name: 'of the context', mode: 'worker' });
    });

    test('a refused operation has a context too', async () => {
      const { value, id } = await newKey(at(), 'member');
      expectError(await at().as(value).get('/audits'), 403);
      const [entry] = await until(async () => {
        const found = await list(`outcome=refused&principal_id=${id}`);
        return found.length > 0 && found;
      });
      expect(entry).toMatchObject({ action: 'listAudits', context: { via: 'key', key_id: id }, details: {} });
    });

    test('equal refusals of a principal in a minute are the first entry, and one with their count', async () => {
      const { value, id } = await newKey(at(), 'member');
      const refuse = async (path: string) => expectError(await at().as(value).get(path), 403);
      const found = (count: number) =>
        until(async () => {
          const entries = await list(`outcome=refused&principal_id=${id}`);
          const told = entries.map(({ action, details }) => `${action} ${details.count ?? 'at once'}`);
          return told.length === count && told.toSorted();
        });
      for (let n = 0; n < 20; n++) await refuse('/audits');
      await refuse('/users');
      expect(await found(2)).toEqual(['listAudits at once', 'listUsers at once']);
      at().test.clock.advance(61_000);
      await refuse('/users');
      const users = ['listUsers at once', 'listUsers at once'];
      expect(await found(4)).toEqual(['listAudits 19', 'listAudits at once', ...users]);
      for (let n = 0; n < 60; n++) await refuse(`/users/${newId()}`);
      at().test.clock.advance(61_000);
      await refuse('/users');
      // 50 paths are told apart: that of the list, and 49 of the 60.
      expect(await found(4 + 49 + 1 + 1)).toContain('getUser 11');
    });

    test('an entry of a release without contexts has none', async () => {
      await at()
        .sql`insert into audits (id, principal_kind, principal_id, principal_name, action, target_type, outcome, details)
          values (${newId()}, 'system', 'system', 'the platform', 'old.entry', 'old', 'done', '{"n": 1}')`;
      expect(await list('action=old.entry')).toMatchObject([{ context: null, details: { n: 1 } }]);
    });

    test('filters by action with an asterisk at its end, literally before it, and by request', async () => {
      await add(3, 'prefix_a.one');
      await add(2, 'prefix_a.two');
      await add(2, 'prefixXa.one');
      const actions = async (filter: string) => (await list(filter)).map((entry) => entry.action).sort();
      expect(await actions('action=prefix_a.one')).toEqual(Array(3).fill('prefix_a.one'));
      expect(await actions('action=prefix_a.*')).toEqual([
        ...Array(3).fill('prefix_a.one'),
        ...Array(2).fill('prefix_a.two'),
      ]);
      expect((await actions('action=prefix*')).length).toBe(7);
      expect(await actions('action=prefix%25*')).toEqual([]);
      expect(await actions('action=prefix_a.*e')).toEqual([]);
      expect(await actions('action=prefix_a.*&target_id=1')).toEqual(['prefix_a.one', 'prefix_a.two']);
      expect(await actions(`request_id=${encodeURIComponent('request of prefix_a.two')}`)).toEqual(
        Array(2).fill('prefix_a.two'),
      );
      const all = (await list('')).map((entry) => entry.id);
      expect((await list('action=*')).map((entry) => entry.id)).toEqual(all);
      // The ids alone: the platform seals entries meanwhile, which gives them a position and a hash.
      const ids = (entries: Json[]) => entries.map((entry) => entry.id);
      const prefixed = ids(await list('action=prefix*'));
      const some = await ok(at().api.get('/audits?action=prefix*&limit=2&offset=3'));
      expect(ids(some.data)).toEqual(prefixed.slice(3, 5));
      expect(some.has_more).toBe(true);
      expect(ids(await list(`action=prefix*&next=${some.next}`))).toEqual(prefixed.slice(5));
    });

    test('filters by time: from is included, to is not', async () => {
      await add(1, 'timed.one');
      await sleep(5);
      await add(1, 'timed.two');
      const [one] = await list('action=timed.one');
      const [two] = await list('action=timed.two');
      const between = async (from: string | null, to: string | null) => {
        const given = Object.entries({ from, to }).filter(([, time]) => time !== null) as [string, string][];
        const found = await list(`${new URLSearchParams([['action', 'timed.*'], ...given])}`);
        return found.map((entry) => entry.action);
      };
      expect(await between(one.at, two.at)).toEqual(['timed.one']);
      expect(await between(one.at, null)).toEqual(['timed.two', 'timed.one']);
      expect(await between(two.at, null)).toEqual(['timed.two']);
      expect(await between(null, one.at)).toEqual([]);
      // A tenth of a microsecond later, and the same instant in another zone.
      expect(await between(one.at.replace('Z', '0001Z'), null)).toEqual(['timed.two']);
      expect(await between(null, one.at.replace('Z', '0001Z'))).toEqual(['timed.one']);
      const inIndia = new Date(Date.parse(one.at) + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30');
      expect(await between(inIndia, null)).toEqual(['timed.two', 'timed.one']);
      const [year0, year9999] = ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59+23:59'];
      expect(await between(year0, year9999)).toEqual(['timed.two', 'timed.one']);
      const since = 'from=2020-01-01T00:00:00Z';
      const { data, next } = await ok(at().api.get(`/audits?${since}&limit=3`));
      // The hashes of the chain are written in the background.
      const idsOf = (entries: Json[]) => entries.slice(0, 100).map(({ id }) => id);
      expect(idsOf([...data, ...(await list(`${since}&next=${next}`))])).toEqual(idsOf(await list(since)));
    });

    test('exports 5,000 entries in the order of the chain, with filters, after a position, and with a limit', async () => {
      await add(2_500, 'export.even');
      await add(2_500, 'export.odd');
      await chained();
      const { entries, last } = await exported('action=export.*');
      expect(entries.length).toBe(5_000);
      const positions = entries.map((entry) => entry.position);
      expect(positions).toEqual([...positions].sort((a, b) => a - b));
      const half = Array.from({ length: 2_500 }, (_, n) => n);
      expect(entries.map((entry) => entry.details.n)).toEqual([...half, ...half]);
      const [shown] = await list('action=export.even&target_id=7');
      expect(entries[7]).toEqual(shown);
      const checkpoint = await ok(at().api.get('/audits/checkpoint'));
      expect(last).toEqual({ checkpoint });

      const all = await exported();
      expect(all.entries.map((entry) => entry.position)).toEqual(
        all.entries.map((_entry, index) => index + 1),
      );
      const after = all.entries[3_000]!.position;
      const rest = await exported(`after_position=${after}&limit=1500`);
      expect(rest.entries).toEqual(all.entries.slice(3_001, 4_501));
      expect((await exported(`after_position=${all.entries.length + 1_000}`)).entries).toEqual([]);
      expect((await exported('action=export.odd&limit=2')).entries).toEqual(entries.slice(2_500, 2_502));
      expect((await exported('action=nothing')).entries).toEqual([]);
      expect((await exported(`action=export.*&to=${entries[0]!.at}`)).entries).toEqual([]);
    });

    test('an export is an entry, with its filters', async () => {
      const headers = { 'x-request-id': 'export-1' };
      const { headers: got } = await at().api.get(
        '/audits/export?action=user.*&from=2026-01-01T00:00:00Z&after_position=5&limit=1',
        { headers },
      );
      expect(got.get('content-type')).toBe('application/x-ndjson');
      expect(await list('request_id=export-1')).toMatchObject([
        {
          action: 'audit.export',
          target_id: null,
          details: {
            filters: { action: 'user.*', from: '2026-01-01T00:00:00.000Z' },
            after_position: 5,
            limit: 1,
          },
        },
      ]);
    });

    // It waits for 6 s; the embedded database has the same path from the revocation to the end.
    test.runIf(database === 'postgres')(
      'an export ends early when the key of its reader is revoked',
      async () => {
        const key = await newKey(at(), 'admin');
        await add(6_000, 'long.export', 'x'.repeat(5_000));
        await chained();
        const response = await fetch(`${at().test.origin}/api/v2/audits/export`, {
          headers: { authorization: `Bearer ${key.value}` },
        });
        const reader = response.body!.getReader();
        await reader.read();
        await ok(at().api.delete(`/api-keys/${key.id}`), 204);
        // Slowly, so that it is not at its end before: then what the buffers hold arrives, without the last line.
        for (let n = 0; n < 12; n++) {
          await reader.read();
          await sleep(500);
        }
        const rest = async () => {
          while (!(await reader.read()).done);
        };
        await expect(rest()).rejects.toThrow();
      },
    );

    test('a checkpoint verifies with the public key that is shown, and signs what it shows', async () => {
      const checkpoint = await ok(at().api.get('/audits/checkpoint'));
      const { position, hash, at: time, key_id, public_key, signature, signed_text } = checkpoint;
      expect(key_id).toMatch(/^[0-9a-f]{8}$/);
      expect(public_key).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
      expect(JSON.parse(signed_text)).toMatchObject({ position, hash, at: time });
      const holds = (text: string) =>
        verify(null, Buffer.from(text), public_key, Buffer.from(signature, 'base64'));
      expect(holds(signed_text)).toBe(true);
      expect(holds(`${signed_text} `)).toBe(false);
      expect(await ok(at().api.get(`/audits/verify?position=${position}&hash=${hash}`))).toMatchObject({
        ok: true,
        anchor: 'matches',
      });
    });

    test('verify compares an anchor', async () => {
      await chained();
      const verified = await ok(at().api.get('/audits/verify'));
      expect(verified).toEqual({
        ok: true,
        checked: verified.last_position,
        broken_at: null,
        last_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        first_position: 1,
        last_position: expect.any(Number),
        unchained: 0,
        checkpoints_checked: expect.any(Number),
        anchor: null,
      });
      const { last_hash: hash, last_position: position } = verified;
      const anchored = async (n: number, noted: string) => {
        const { ok: holds, anchor } = await ok(at().api.get(`/audits/verify?position=${n}&hash=${noted}`));
        return [holds, anchor];
      };
      expect(await anchored(position, hash)).toEqual([true, 'matches']);
      expect(await anchored(position, hash.toUpperCase())).toEqual([true, 'matches']);
      expect(await anchored(1, hash)).toEqual([false, 'differs']);
      expect(await anchored(999_999_999, hash)).toEqual([false, 'beyond_end']);
      for (const part of [`position=1`, `hash=${hash}`, 'position=x', 'hash=x']) {
        expectError(await at().api.get(`/audits/verify?${part}`), 400, /is required/);
      }
      for (const wrong of ['', `${hash}0`, hash.replace(/^./, 'g')])
        expectError(await at().api.get(`/audits/verify?position=1&hash=${wrong}`), 422);
    });

    test('no entry contains a key', async () => {
      const { value } = await newKey(at(), 'admin');
      const secret = 'sk-live-0123456789';
      await ok(at().as(value).get('/agents'));
      const headers = { authorization: secret };
      const settings = { provider: 'otlp_custom_headers', url: 'http://127.0.0.1:9/v1/traces', headers };
      await ok(at().api.post('/observability/integrations', { version: '1', settings }), 201);
      const rows = await at().sql`select row_to_json(audits)::text as text from audits`;
      const text = rows.map((row) => row.text).join('\n');
      for (const hidden of [value, secret, at().test.platform.firstKey ?? value])
        expect(text).not.toContain(hidden);
    });
  }));
