import { describe, expect, test } from 'vitest';
import { newConversation, newTalker, scripted } from './conversations-fixture.ts';
import { expectError, newKey, ok, onPostgres, unknownId } from './fixture.ts';

describe('the page of a conversation', () =>
  onPostgres((at) => {
    test('has the agent, the last run and the messages with who wrote them, in one request', async () => {
      const key = await newKey(at(), 'member', { name: 'Ana' });
      const client = at().as(key.value);
      const { id: agentId } = await newTalker(at(), { approval_role: 'admin' });
      const talk = await newConversation(at(), { agentId, client });
      const empty = await ok(at().app.get(talk.path));
      expect(empty).toMatchObject({ id: talk.id, run: null, created_by_name: 'Ana', messages: { data: [] } });
      const failed = await ok(client.post(`${talk.path}/messages`, { content: 'Hello' }));
      const asks = { tool: 'request_review', args: { reason: 'Sure?' } };
      const again = await talk.send({ content: scripted({ steps: [asks] }) });
      const shown = await ok(at().app.get(talk.path));
      const { messages, agent, created_by_name, run, ...same } = shown;
      expect(same).toEqual(await talk.get());
      expect({ agent, created_by_name }).toEqual({
        agent: { id: agentId, name: 'Talker', approval_role: 'admin' },
        created_by_name: 'Ana',
      });
      const { messages: _, answer, usage, ...sameRun } = again;
      expect(run).toEqual({ ...sameRun, message_id: again.messages[0].id });
      expect(messages).toEqual(await ok(at().app.get(`${talk.path}/messages`)));
      expect(messages.data.at(-1)).toMatchObject({
        id: failed.messages[0].id,
        author_name: 'Ana',
        content: [{ type: 'text', text: 'Hello' }],
        bytes: 5,
        cut: false,
      });
      for (const { role, author_name } of messages.data) if (role !== 'user') expect(author_name).toBeNull();
      const { next } = await ok(at().app.get(`${talk.path}/messages?limit=1`));
      const { data } = await ok(at().app.get(`${talk.path}/messages?next=${next}`));
      expect(data).toEqual(messages.data.slice(1));
    });

    test('a long message is cut, and downloaded whole', async () => {
      const talk = await newConversation(at());
      const run = await talk.send({ content: 'Hello' });
      const text = 'é'.repeat(100_000);
      const reply = run.messages.at(-1).id;
      await at()
        .sql`update conversation_messages set content = ${JSON.stringify([{ type: 'text', text }])}::json where id = ${reply}`;
      const [shown] = (await ok(at().app.get(talk.path))).messages.data;
      expect(shown).toMatchObject({ bytes: 200_000, cut: true, content: [{ cut: true }] });
      expect(shown.content[0].text).toBe('é'.repeat(8_192));
      const whole = await at().app.get(`${talk.path}/messages/${reply}/content`);
      expect([whole.status, whole.text === text]).toEqual([200, true]);
    });

    test("someone else's conversation does not exist for a member", async () => {
      const talk = await newConversation(at());
      const member = at().as((await newKey(at(), 'member')).value, '/app/api');
      for (const path of [talk.path, `${talk.path}/messages`, `${talk.path}/messages/${unknownId}/content`]) {
        expectError(await member.get(path), 404);
      }
    });
  }));
