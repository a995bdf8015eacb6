import { expect, it } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { type Actor, anonymous, systemActor } from '../lib/principal.ts';
import { audit, auditAll, auditRefused } from './entries.ts';
import { listAudits } from './list-store.ts';

const page = { limit: 10, next: null, offset: 0 };
const actor = (more: Partial<Actor['principal']>, userAgent: string | null = null): Actor => ({
  principal: { ...anonymous, ...more },
  requestId: 'r',
  ip: '192.0.2.1',
  userAgent,
});

eachDatabase((_name, open) => {
  it.each([
    ['key', actor({ kind: 'service_account', id: 'k', keyId: 'k' }), { key_id: 'k', session_id: null }],
    ['key', actor({ kind: 'person', id: 'p', keyId: 'k' }), { key_id: 'k', session_id: null }],
    ['session', actor({ kind: 'person', id: 'p', sessionId: 's' }), { key_id: null, session_id: 's' }],
    [
      'session',
      actor({ kind: 'person', id: 'p', keyId: 'k', sessionId: 's' }),
      { key_id: 'k', session_id: 's' },
    ],
    ['session', actor({ kind: 'unknown' }), { key_id: null, session_id: null }],
    ['system', systemActor, { ip: null, key_id: null, session_id: null }],
  ])('the context says that the actor came via %s (%#)', async (via, by, context) => {
    await open().tx((tx) => audit(tx, by, 'thing.change', null, { n: 1 }));
    const [entry] = await open().run((executor) => listAudits(executor, page));
    expect(entry!.details).toEqual({
      n: 1,
      context: { ip: '192.0.2.1', user_agent: null, via, ...context },
    });
  });

  it('keeps the first 200 characters of the user agent, and a refused entry has details', async () => {
    await open().tx((tx) =>
      auditRefused(tx, actor({}, 'ü'.repeat(201)), 'session.create', null, { reason: 'no_role' }),
    );
    const [entry] = await open().run((executor) => listAudits(executor, page));
    expect(entry).toMatchObject({
      principal_kind: 'unknown',
      outcome: 'refused',
      target_type: 'session',
      details: { reason: 'no_role', context: { user_agent: 'ü'.repeat(200) } },
    });
  });

  it('writes 10,000 entries at once, in their order', async () => {
    const entries = Array.from({ length: 10_000 }, (_, n) => ({
      action: 'user.role_change',
      targetId: String(n),
      details: { before: 'member', after: 'admin' },
    }));
    await open().tx((tx) => auditAll(tx, actor({ kind: 'person' }), entries));
    const newest = await open().run((executor) => listAudits(executor, page));
    expect(newest.map(({ target_id }) => target_id)).toEqual(
      Array.from({ length: 11 }, (_, n) => String(9_999 - n)),
    );
  });
});
