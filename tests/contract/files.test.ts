import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FormPart } from '../harness/form.ts';
import { form } from '../harness/form.ts';
import { adminKey } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { newConversation } from './conversations-fixture.ts';
import { sendForm, upload } from './files-fixture.ts';
import {
  expectError,
  type Fixture,
  newAgent,
  newKey,
  ok,
  onEachDatabase,
  setSettings,
  uuid,
} from './fixture.ts';

const waiting = (at: Fixture): string => join(at.dataDir, 'tmp');
const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** How many bytes of files there are, in the folder or in rows. */
const storedIds = async (at: Fixture): Promise<string[]> => {
  const rows = await at.sql`select file_id as id from file_bytes where part = 0`;
  const folders = await namesIn(join(at.dataDir, 'files'));
  const files = await Promise.all(folders.map((name) => namesIn(join(at.dataDir, 'files', name))));
  return [...rows.map(({ id }) => id), ...files.flat()];
};

onEachDatabase((at) => {
  describe('a file of a conversation', () => {
    test('is uploaded, listed, downloaded and deleted, and its bytes are gone within seconds', async () => {
      const { path, id: conversationId } = await newConversation(at());
      // Over two rows and a bit.
      const content = randomBytes(2 * 1024 * 1024 + 17);
      const file = await upload(at().api, path, 'Über alles.csv', content);
      expect(file).toEqual({
        id: expect.stringMatching(uuid),
        conversation_id: conversationId,
        work_item_id: null,
        name: 'Über alles.csv',
        content_type: 'application/octet-stream',
        size_bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
        created_by: expect.any(String),
        created_at: expect.any(String),
      });
      expect(await ok(at().api.get(`${path}/files/${file.id}`))).toEqual(file);
      const second = await upload(at().api, path, 'b.csv', 'a,b\n1,2');
      expect(second.content_type).toBe('text/csv');
      const { data } = await ok(at().api.get(`${path}/files?limit=1`));
      expect(data.map(({ id }: { id: string }) => id)).toEqual([second.id]);

      const url = `${at().test.origin}/api/v2${path}/files/${file.id}/content`;
      const headers = { authorization: `Bearer ${adminKey}` };
      const response = await fetch(url, { headers });
      expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-length': String(content.length),
        'content-disposition': "attachment; filename*=UTF-8''%C3%9Cber%20alles.csv",
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': 'private, no-store',
        etag: `"${file.sha256}"`,
      });
      const head = await fetch(url, { headers, method: 'HEAD' });
      expect([head.status, head.headers.get('content-length')]).toEqual([200, String(content.length)]);
      const again = await fetch(url, { headers: { ...headers, 'if-none-match': `"${file.sha256}"` } });
      expect([again.status, await again.text()]).toEqual([304, '']);

      expect(await storedIds(at())).toContain(file.id);
      await ok(at().api.delete(`${path}/files/${file.id}`), 204);
      await until(async () => !(await storedIds(at())).includes(file.id));
      expect(await storedIds(at())).toContain(second.id);
      expect(await namesIn(waiting(at()))).toEqual([]);
      const { data: audits } = await ok(at().api.get(`/audits?target_id=${file.id}`));
      expect(audits.map(({ action }: { action: string }) => action)).toEqual(['file.delete', 'file.create']);
    });

    test('gets a free name, also when several come at once', async () => {
      const { path } = await newConversation(at());
      const files = await Promise.all(['1', '2', '3'].map((text) => upload(at().api, path, 'a.csv', text)));
      expect(files.map(({ name }) => name).sort()).toEqual(['a (2).csv', 'a (3).csv', 'a.csv']);
      const named = await upload(at().api, path, 'x.bin', 'a', [{ name: 'name', content: '../n.md' }]);
      expect([named.name, named.content_type]).toEqual(['n.md', 'text/markdown']);
    });

    test('is refused if the form is not as it must be, and nothing is left behind', async () => {
      const { path } = await newConversation(at());
      const file: FormPart = { name: 'file', filename: 'a', content: 'x' };
      const before = await storedIds(at());
      const refused: [FormPart[], RegExp][] = [
        [[], /no part `file`/],
        [[{ name: 'name', content: 'a' }], /no part `file`/],
        [[{ ...file, content: '' }], /is empty/],
        [[file, file], /more than one/],
        [[file, { ...file, name: 'other' }], /`other` is not a file/],
        [[file, { name: 'name', content: 'a' }, { name: 'name', content: 'b' }], /twice/],
      ];
      for (const [parts, message] of refused) {
        expectError(await sendForm(at().api, `${path}/files`, parts), 400, message);
      }
      expectError(await at().api.post(`${path}/files`, {}), 400, /multipart/);
      expectError(await at().api.post(`${path}/files`), 400, /multipart/);
      const { body, headers } = form([file]);
      const torn = await at().api.raw('POST', `${path}/files`, body.subarray(0, 90), { headers });
      expectError(torn, 400, /complete/);
      await setSettings(at(), { MAX_FILE_SIZE_IN_MB: 1, MAX_FILES_PER_CONVERSATION: 1 });
      const size = 1024 * 1024;
      const large = { ...file, content: Buffer.alloc(size + 1) };
      const refusedBy = async (part: FormPart, message: RegExp, setting: string) =>
        expectError(await sendForm(at().api, `${path}/files`, [part]), 400, message, { setting });
      await refusedBy(large, /larger/, 'MAX_FILE_SIZE_IN_MB');
      await upload(at().api, path, 'largest', Buffer.alloc(size));
      await refusedBy(file, /maximum is 1/, 'MAX_FILES_PER_CONVERSATION');
      await setSettings(at(), { MAX_FILE_SIZE_IN_MB: 50, MAX_FILES_PER_CONVERSATION: 100 });
      expect(await namesIn(waiting(at()))).toEqual([]);
      expect(await storedIds(at())).toHaveLength(before.length + 1);
    });

    test('whose client leaves leaves nothing behind, and no one waits for it', async () => {
      const { path } = await newConversation(at());
      const { port } = new URL(at().test.origin);
      const { headers } = form([]);
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(
        `POST /api/v2${path}/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminKey}\r\nContent-Type: ${headers['content-type']}\r\nContent-Length: 1000000\r\n\r\n--form-boundary-0123456789\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${'x'.repeat(100_000)}`,
      );
      await until(async () => (await namesIn(waiting(at()))).length === 1);
      // While it is sent no transaction is open: the embedded database has only one connection.
      await upload(at().api, path, 'b', 'x');
      socket.destroy();
      await until(async () => (await namesIn(waiting(at()))).length === 0);
    });

    test('is seen and changed by those who may use the conversation', async () => {
      const [one, other] = [await newKey(at(), 'member'), await newKey(at(), 'member')];
      const { path } = await newConversation(at(), { client: at().as(one.value) });
      const { id } = await upload(at().as(one.value), path, 'a', 'x');
      for (const address of [`${path}/files`, `${path}/files/${id}`, `${path}/files/${id}/content`])
        expectError(await at().as(other.value).get(address), 404);
      expectError(await sendForm(at().as(other.value), `${path}/files`, []), 404);
      const reader = await newKey(at(), 'admin', { scopes: ['conversations:read'] });
      expect((await at().as(reader.value).get(`${path}/files/${id}/content`)).text).toBe('x');
      expectError(await sendForm(at().as(reader.value), `${path}/files`, []), 403);
    });

    test('goes with its conversation and with its agent', async () => {
      const agent = await newAgent(at(), { mode: 'conversational' });
      const first = await newConversation(at(), { agentId: agent.id });
      const second = await newConversation(at(), { agentId: agent.id });
      const ids = [
        (await upload(at().api, first.path, 'a', 'x')).id,
        (await upload(at().api, second.path, 'a', 'x')).id,
      ];
      await ok(at().api.delete(first.path), 204);
      await ok(at().api.delete(`/agents/${agent.id}`), 204);
      await until(async () => !(await storedIds(at())).some((id) => ids.includes(id)));
      expect(await at().sql`select 1 from removed_files`).toEqual([]);
    });
  });

  describe('a file of a Work Item', () => {
    test('can be changed while it is a draft, and goes with it', async () => {
      const agent = await newAgent(at());
      const item = await ok(at().api.post('/work-items', { agent_id: agent.id, draft: true }));
      const path = `/work-items/${item.id}`;
      const file = await upload(at().api, path, 'a.txt', 'x');
      expect([file.conversation_id, file.work_item_id]).toEqual([null, item.id]);
      await upload(at().api, path, 'b.txt', 'x').then(({ id }) =>
        ok(at().api.delete(`${path}/files/${id}`), 204),
      );
      await ok(at().api.post(`${path}/cancel`));
      const cancelled = { status: 'CANCELLED', allowed_actions: ['restart'] };
      const another = { name: 'file', filename: 'c', content: 'x' };
      expectError(await sendForm(at().api, `${path}/files`, [another]), 412, /./, cancelled);
      expectError(await at().api.delete(`${path}/files/${file.id}`), 412, /./, cancelled);
      expect((await at().api.get(`${path}/files/${file.id}/content`)).text).toBe('x');
      await at().sql`delete from work_items where id = ${item.id}`;
      expect(await at().sql`select 1 from files where id = ${file.id}`).toEqual([]);
      await until(async () => !(await storedIds(at())).includes(file.id));
    });
  });
});
