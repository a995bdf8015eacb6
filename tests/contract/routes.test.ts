import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CallbackReceiver, startCallbackReceiver } from '../harness/callback-receiver.ts';
import { until } from '../harness/wait.ts';
import { decide, newChannel, newExternal, newReview, newRoute } from './channels-fixture.ts';
import { expectError, newKey, ok, onPostgres, setSettings, unknownId } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const args = {
  amount: 5,
  to: { name: 'x' },
  list: [1, 2],
  none: null,
  text: '5',
  big: 12_345_678,
  'a/b': 1,
};
const call = (tool_name = 'bank__pay') => ({ kind: 'tool_call', tool_name, arguments: args });

describe('routes', () =>
  onPostgres((at) => {
    let receiver: CallbackReceiver;
    let agent: Json;
    const channels: Json[] = [];
    const routes: Json[] = [];
    beforeAll(async () => {
      receiver = await startCallbackReceiver();
      agent = await newExternal(at());
      for (let i = 0; i < 2; i++) channels.push(await newChannel(at(), 'webhook', { url: receiver.url }));
    });
    afterAll(() => receiver?.[Symbol.asyncDispose]());

    const route = async (to: number, more: object = {}): Promise<Json> => {
      const made = await newRoute(at(), agent.id, [{ channel_id: channels[to].id, to: 'channel' }], more);
      routes.push(made);
      return made;
    };
    const removeRoutes = async () => {
      for (const { id } of routes.splice(0)) await ok(at().api.delete(`/routes/${id}`), 204);
    };
    /** The numbers of the channels of its messages. */
    const toldOf = ({ messages }: Json): number[] =>
      messages
        .map(({ channel_id }: Json) => channels.findIndex(({ id }) => id === channel_id))
        .sort((a: number, b: number) => a - b);
    const line = async () =>
      (await ok(at().app.get('/overview'))).attention.find(({ kind }: Json) => kind === 'channel_failing');

    test.each<[boolean, string, string, unknown?]>([
      [true, '/amount', 'eq', 5],
      [false, '/amount', 'eq', '5'],
      [true, '/amount', 'ne', 6],
      [false, '/amount', 'ne', 5],
      [true, '/amount', 'gt', 4],
      [false, '/amount', 'gt', 5],
      [true, '/amount', 'gte', 5],
      [true, '/amount', 'lt', 6],
      [false, '/amount', 'lt', 5],
      [true, '/amount', 'lte', 5],
      // Order is only between numbers.
      [false, '/text', 'gt', 4],
      [false, '/text', 'lte', 9],
      // An absent path is false, whatever the comparison.
      [false, '/absent', 'ne', 6],
      [false, '/absent', 'exists'],
      [false, '/list/2', 'exists'],
      [false, '/constructor', 'exists'],
      [false, '/text/length', 'exists'],
      [true, '/none', 'exists'],
      [true, '/none', 'eq', null],
      [true, '/to/name', 'eq', 'x'],
      [true, '/to', 'eq', { name: 'x' }],
      [true, '/list/1', 'eq', 2],
      [true, '/a~1b', 'eq', 1],
      [true, '', 'exists'],
    ])('%s: a condition on %s, %s %j', async (holds, path, op, value) => {
      const condition = { path, op, ...(value !== undefined && { value }) };
      await route(0, { match: { agent_ids: [agent.id], conditions: [condition] } });
      expect(toldOf(await newReview(at(), agent.id, [call()]))).toEqual(holds ? [0] : []);
      await removeRoutes();
    });

    test.each<[boolean, object]>([
      [true, { tools: ['bank__*'] }],
      [true, { tools: ['a', 'bank__pay'] }],
      [false, { tools: ['bank__'] }],
      [false, { tools: ['pay'] }],
      [false, { kinds: ['question'] }],
      [true, { kinds: ['question', 'tool_call'] }],
      [false, { sources: ['conversation'] }],
      [
        false,
        {
          conditions: [
            { path: '/amount', op: 'eq', value: 5 },
            { path: '/amount', op: 'gt', value: 5 },
          ],
        },
      ],
    ])('%s: matches %j', async (matches, match) => {
      await route(0, { match: { agent_ids: [agent.id.toUpperCase()], ...match } });
      expect(toldOf(await newReview(at(), agent.id, [call()]))).toEqual(matches ? [0] : []);
      await removeRoutes();
    });

    test('each approval finds the first by position and age; one that is off is left out', async () => {
      await route(0, { position: 200 });
      const first = await route(1, { position: 50 });
      expect(toldOf(await newReview(at(), agent.id, [call()]))).toEqual([1]);
      await ok(at().api.patch(`/routes/${first.id}`, { position: 200 }));
      expect(toldOf(await newReview(at(), agent.id, [call()]))).toEqual([0]);
      await ok(at().api.patch(`/routes/${first.id}`, { position: 0, enabled: false }));
      expect(toldOf(await newReview(at(), agent.id, [call()]))).toEqual([0]);
      await removeRoutes();
    });

    test('a review takes the steps of all routes found, and their highest role, whatever changes later', async () => {
      const forTool = (name: string) => ({ match: { agent_ids: [agent.id], tools: [name] } });
      const strict = await route(0, { ...forTool('a'), decide_role: 'admin' });
      await route(1, { ...forTool('b'), decide_role: 'member' });
      await route(1, { ...forTool('c'), decide_role: null });
      const both = await newReview(at(), agent.id, [call('a'), call('b')]);
      expect([toldOf(both), both.required_role]).toEqual([[0, 1], 'admin']);
      // It lowers nothing: the agent needs builders.
      for (const tool of ['b', 'c'])
        expect((await newReview(at(), agent.id, [call(tool)])).required_role).toBe('builder');
      await ok(at().api.patch(`/routes/${strict.id}`, { decide_role: null }));
      const builder = at().as((await newKey(at(), 'builder')).value);
      const shown = await ok(builder.get(`/reviews/${both.id}`));
      expect(shown).toMatchObject({ required_role: 'admin', may_decide: false });
      expectError(await decide({ ...at(), api: builder }, both, 'approve'), 403, /admin/);
      await ok(decide(at(), both, 'approve'));
      await removeRoutes();
    });

    test('a channel that fails is a line of the Overview, for those who see channels, while it is on', async () => {
      receiver.respondWith(500);
      expectError(await at().api.post(`/channels/${unknownId}/test`), 404);
      expect((await ok(at().api.post(`/channels/${channels[0].id}/test`))).ok).toBe(false);
      const shown = await until(line);
      expect(shown).toMatchObject({
        severity: 'warning',
        count: 1,
        subject: { type: 'channel', id: channels[0].id, name: channels[0].name },
        title: expect.stringContaining('is failing'),
        detail: expect.stringContaining('The receiver responded with 500.'),
      });
      const member = at().as((await newKey(at(), 'member')).value, '/app/api');
      expect(JSON.stringify(await ok(member.get('/overview')))).not.toContain('channel_failing');
      receiver.respondWith(204);
      await ok(at().api.post(`/channels/${channels[0].id}/test`));
      await until(async () => (await line()) === undefined, 20_000);
    });

    test('messages and steps go with their review, and old alerts with theirs', async () => {
      await route(0);
      const { id, work_item_id } = await newReview(at(), agent.id, [call()]);
      const messages = () => at().sql`select from channel_messages where subject_id = ${id}`;
      expect(await messages()).toHaveLength(1);
      await ok(at().api.post(`/work-items/${work_item_id}/cancel`));
      await ok(at().api.delete(`/work-items/${work_item_id}`), 204);
      expectError(await at().api.get(`/reviews/${id}`), 404);
      expect(await messages()).toEqual([]);

      const { alerts } = at().test.platform.features;
      const [rule] = (await ok(at().api.get('/alert-rules'))).data;
      const old = async (days: number, state: string): Promise<string> => {
        const [{ id: made }] = (await at().sql`insert into alerts
          (rule_id, kind, severity, state, title, detail, cause_at, fired_at, resolved_at)
          values (${rule.id}, 'missed', 'error', ${state}, 't', 'd', platform_now(), platform_now() - interval '400 days',
            case when ${state} = 'resolved' then platform_now() - make_interval(days => ${days}) end)
          returning id`) as Json[];
        return made;
      };
      const kept = [await old(89, 'resolved'), await old(0, 'firing')];
      const gone = await old(91, 'resolved');
      const retain = async (days: number) =>
        at().db.tx((tx) => alerts.retention![0]!(tx, { ALERT_RETENTION_DAYS: days } as never, 100));
      await retain(0);
      expect((await at().api.get(`/alerts/${gone}`)).status).toBe(200);
      const settings = await ok(at().api.get('/advanced-settings'));
      expect(settings.ALERT_RETENTION_DAYS).toBe(90);
      await retain(settings.ALERT_RETENTION_DAYS);
      expectError(await at().api.get(`/alerts/${gone}`), 404);
      for (const one of kept) expect((await at().api.get(`/alerts/${one}`)).status).toBe(200);
    });

    test('attempts are counted by kind and outcome, and what waits is', async () => {
      receiver.respondWith(500);
      const review = await newReview(at(), agent.id, [call()]);
      await until(async () => (await ok(at().api.get(`/reviews/${review.id}`))).messages[0].last_error);
      receiver.respondWith(410);
      await ok(at().api.patch(`/channels/${channels[0].id}`, {}));
      await until(
        async () => (await ok(at().api.get(`/reviews/${review.id}`))).messages[0].state === 'failed',
      );
      const { text } = await at().test.as(undefined, '').get('/metrics');
      for (const outcome of ['delivered', 'retried', 'failed'])
        expect(text).toMatch(
          new RegExp(
            `^agent_platform_channel_attempts_total\\{kind="webhook",outcome="${outcome}"\\} [1-9]`,
            'm',
          ),
        );
      expect(text).toMatch(/^agent_platform_channel_messages_overdue 0$/m);
      await removeRoutes();
    });

    test('in a workspace document people are e-mails, also invited ones, and addresses without a key are plain', async () => {
      const email = 'invited@example.com';
      const { id: invited } = await ok(at().api.post('/users', { email, role: 'builder' }));
      const from = 'agents@example.com';
      const mail = await newChannel(at(), 'email', { name: 'Mail', smtp_url: 'smtp://mail.invalid', from });
      await newChannel(at(), 'teams', { name: 'Teams', url: 'https://flows.invalid/?sig=1' });
      const steps = [{ channel_id: mail.id, to: { user_ids: [invited] } }];
      routes.push(await newRoute(at(), agent.id, steps, { name: 'Invited' }));
      const { text } = await at().app.get('/workspace?format=json');
      const document = JSON.parse(text);
      expect(document.routes).toMatchObject([
        { match: { agents: [agent.name] }, steps: [{ channel: 'Mail', to: { users: [email] } }] },
      ]);
      const urls = document.channels.map(({ kind, url = null }: Json) => [kind, url]);
      expect(urls).toContainEqual(['webhook', receiver.url]);
      expect(urls).toContainEqual(['teams', expect.stringMatching(/^\$\{secret:\w+\}$/)]);
      const changesOf = async (given: object) =>
        (await ok(at().app.post('/workspace/plan', { document: given }))).changes.filter(
          ({ action }: Json) => action !== 'unchanged',
        );
      expect(await changesOf(document)).toEqual([]);
      await removeRoutes();
      expect(await changesOf(document)).toMatchObject([{ action: 'create', kind: 'route', name: 'Invited' }]);
    });

    test('there are at most MAX_ROUTES', async () => {
      await setSettings(at(), { MAX_ROUTES: 0 });
      const steps = [{ channel_id: channels[0].id, to: 'channel' }];
      const refused = await at().api.post('/routes', { name: 'One more', for: 'reviews', steps });
      await setSettings(at(), { MAX_ROUTES: 200 });
      expectError(refused, 422, /maximum/, { setting: 'MAX_ROUTES' });
    });
  }));
