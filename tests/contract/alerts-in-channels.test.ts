import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CallbackReceiver, startCallbackReceiver } from '../harness/callback-receiver.ts';
import { type FakeSlack, slackTokens, startSlack } from '../harness/slack.ts';
import { startSmtp, type TestSmtp } from '../harness/smtp.ts';
import { until } from '../harness/wait.ts';
import { decide, newChannel, newExternal, newReview, newRoute } from './channels-fixture.ts';
import { newAgent, ok, onPostgres } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const pay = { kind: 'tool_call', tool_name: 'bank__pay', arguments: { amount: 5 } };

describe('alerts in channels', () =>
  onPostgres((at) => {
    let receiver: CallbackReceiver;
    let slack: FakeSlack;
    let smtp: TestSmtp;
    let channels: Record<string, Json>;
    beforeAll(async () => {
      [receiver, slack, smtp] = [await startCallbackReceiver(), await startSlack(), await startSmtp()];
      channels = {
        webhook: await newChannel(at(), 'webhook', { url: `${receiver.url}/hook` }),
        pager: await newChannel(at(), 'pagerduty', {
          routing_key: 'k'.repeat(32),
          url: `${receiver.url}/pager`,
        }),
        slack: await newChannel(at(), 'slack', {
          ...slackTokens,
          api_url: slack.url,
          conversation: 'C1',
        }),
        email: await newChannel(at(), 'email', {
          smtp_url: `smtp://127.0.0.1:${smtp.port}`,
          tls: 'none',
          from: 'agents@example.com',
          recipients: ['night@example.com'],
        }),
      };
      await until(() => slack.sockets.size === 1);
    });
    afterAll(async () => {
      for (const one of [receiver, slack, smtp]) await one?.[Symbol.asyncDispose]();
    });

    /** A replica looks now, although one has just done so. */
    const look = async (): Promise<void> => {
      await at().sql`update alert_pass set at = platform_now() - interval '9 seconds'`;
      await at().test.platform.features.alerts.looks.run();
    };
    const to = (...names: string[]) =>
      names.map((name) => ({ channel_id: channels[name].id, to: 'channel' as const }));
    /** A Work Item of an agent of this name ends in ERROR, which fires an alert that goes by these steps. */
    const fail = async (name: string, steps: object[]): Promise<{ alert: Json; agent: Json }> => {
      const agent = await newAgent(at(), { name });
      await ok(
        at().api.post('/routes', {
          name,
          for: 'alerts',
          match: { agent_ids: [agent.id] },
          steps,
          position: 1,
        }),
      );
      const rule = await ok(
        at().api.post('/alert-rules', {
          name,
          kind: 'failing',
          agent_id: agent.id,
          params: { failures: 1, of: 1 },
        }),
      );
      await run(agent.id, 'fail');
      await look();
      const { data } = await ok(at().api.get(`/alerts?rule_id=${rule.id}`));
      expect(data).toHaveLength(1);
      return { alert: data[0], agent };
    };
    const run = async (agent_id: string, how: 'fail' | 'text'): Promise<void> => {
      const payload = { mock: { steps: [{ [how]: 'x' }] } };
      const { id } = await ok(at().api.post('/work-items', { agent_id, message: 'Go', payload }));
      await until(async () =>
        ['ERROR', 'COMPLETED'].includes((await ok(at().api.get(`/work-items/${id}`))).status),
      );
    };
    const hooks = (id: string) =>
      receiver.requests.filter(({ path, body }) => path === '/hook' && body.data.id === id);
    const pages = (id: string) =>
      receiver.requests.filter(({ path, body }) => path === '/pager' && body.dedup_key === id);
    const inSlack = (id: string) => slack.messages.find((one) => JSON.stringify(one.blocks).includes(id));
    const mails = (id: string) => smtp.mails.filter(({ mail }) => mail.text?.includes(id));
    const buttons = ({ blocks }: Json) => JSON.stringify(blocks).match(/"action_id":"[a-z]+"/g);

    test('one alert fires, is acknowledged by a click, and is resolved, in every kind of channel', async () => {
      const { id: userId } = await newPerson(at(), 'builder');
      await at().sql`update users set email = 'ada@example.com', email_verified = true where id = ${userId}`;
      slack.users.set('U1', {
        id: 'U1',
        team_id: 'T1',
        is_email_confirmed: true,
        profile: { email: 'ada@example.com' },
      });
      const { alert, agent } = await fail('Clerk <!channel>', to('webhook', 'pager', 'slack', 'email'));
      const message = await until(() => inSlack(alert.id));
      await until(() => mails(alert.id).length === 1 && pages(alert.id).length === 1);
      expect(buttons(message)).toEqual(['"action_id":"acknowledge"', '"action_id":"open"']);
      expect(hooks(alert.id).map(({ body }) => body.type)).toEqual(['alert.firing']);
      expect(pages(alert.id)[0]!.body).toMatchObject({
        event_action: 'trigger',
        payload: { severity: 'error', summary: expect.stringContaining('Clerk') },
      });
      expect(mails(alert.id)[0]!.mail.text).toContain(`/alerts/${alert.id}`);
      await until(async () =>
        (await ok(at().api.get(`/alerts/${alert.id}`))).messages.every(
          ({ state }: Json) => state === 'delivered',
        ),
      );

      expect(await slack.deliver(slack.payload(message, 'acknowledge', 'U1'))).toBe(true);
      expect(await ok(at().api.get(`/alerts/${alert.id}`))).toMatchObject({
        state: 'firing',
        acknowledged_by: { kind: 'person', id: userId },
      });
      await until(() => hooks(alert.id).length === 2 && pages(alert.id).length === 2 && message.edits === 1);
      expect(hooks(alert.id)[1]!.body.type).toBe('alert.acknowledged');
      expect(pages(alert.id)[1]!.body.event_action).toBe('acknowledge');
      expect(JSON.stringify(message.blocks)).toMatch(/Acknowledged by Ada, \d\d:\d\d UTC/);
      expect(buttons(message)).toEqual(['"action_id":"open"']);
      const { data: audits } = await ok(
        at().api.get(`/audits?target_id=${alert.id}&action=alert.acknowledge`),
      );
      expect(audits).toMatchObject([{ principal: { id: userId }, context: { via: 'channel' } }]);

      await run(agent.id, 'text');
      await look();
      await until(() => hooks(alert.id).length === 3 && pages(alert.id).length === 3 && message.edits === 2);
      expect(hooks(alert.id)[2]!.body.type).toBe('alert.resolved');
      expect(pages(alert.id)[2]!.body.event_action).toBe('resolve');
      expect(JSON.stringify(message.blocks)).toMatch(/Resolved, \d\d:\d\d UTC/);
      await until(() => mails(alert.id).length === 3);
      expect(new Set(hooks(alert.id).map(({ headers }) => headers['webhook-id'])).size).toBe(3);
    });

    test('a later step is sent when its time has come, and not after someone has acknowledged', async () => {
      const steps = [...to('email'), { channel_id: channels.webhook.id, to: 'channel', after_minutes: 5 }];
      const [first, second] = [await fail('first', steps), await fail('second', steps)];
      await until(() => mails(first.alert.id).length + mails(second.alert.id).length === 2);
      await ok(at().api.post(`/alerts/${second.alert.id}/acknowledge`, {}));
      await look();
      expect(hooks(first.alert.id)).toEqual([]);
      await at().sql`update route_steps set due_at = due_at - interval '5 minutes'`;
      await look();
      await until(() => hooks(first.alert.id).length === 1);
      await look();
      expect([hooks(first.alert.id).length, hooks(second.alert.id).length]).toEqual([1, 0]);
    });

    test('an alert that was resolved while its channel was down is sent once, with both times', async () => {
      await ok(at().api.patch(`/channels/${channels.webhook.id}`, { enabled: false }));
      const { alert, agent } = await fail('down', to('webhook'));
      await run(agent.id, 'text');
      await look();
      await ok(at().api.patch(`/channels/${channels.webhook.id}`, { enabled: true }));
      await until(() => hooks(alert.id).length === 1);
      expect(hooks(alert.id)[0]!.body).toMatchObject({
        type: 'alert.resolved',
        data: { fired_at: expect.any(String), resolved_at: expect.any(String) },
      });
    });

    test('a review that no one decided is escalated: the steps that were not sent are, and it stays open', async () => {
      const agent = await newExternal(at(), 'Escalating');
      await ok(
        at().api.patch(`/agents/${agent.id}`, {
          approval_timeout_seconds: 60,
          approval_timeout_outcome: 'escalate',
        }),
      );
      await newRoute(at(), agent.id, [
        ...to('email'),
        { channel_id: channels.webhook.id, to: 'channel', after_minutes: 60 },
      ]);
      const review = await newReview(at(), agent.id, [pay]);
      await until(() => mails(review.id).length === 1);
      await at().sql`update reviews set expires_at = platform_now() where id = ${review.id}`;
      const escalated = await until(async () => {
        const now = await ok(at().api.get(`/reviews/${review.id}`));
        return now.escalated_at !== null && now;
      }, 60_000);
      expect(escalated).toMatchObject({ state: 'open', expires_at: null });
      await until(() => hooks(review.id).length === 1);
      expect(hooks(review.id)[0]!.body).toMatchObject({ type: 'review.opened', data: { state: 'open' } });
      await look();
      const { data } = await ok(at().api.get('/alerts?kind=waiting&state=firing'));
      expect(data).toMatchObject([{ subject: { type: 'work_item', id: review.work_item_id } }]);
      await ok(decide(at(), review, 'approve'));
      await until(() => hooks(review.id).length === 2);
      expect(hooks(review.id)[1]!.body.type).toBe('review.closed');
    });
  }));
