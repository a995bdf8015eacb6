import { describe, expect, test } from 'vitest';
import { newConversation } from '../contract/conversations-fixture.ts';
import { upload } from '../contract/files-fixture.ts';
import { newKey, ok, withPlatform } from '../contract/fixture.ts';

/** A query that takes as long as it may: 21 times the frame, which is 3 to the power of 21 rows. */
const endless = `select sum(x.a * y.a) as s from f x, f y${Array.from({ length: 19 }, (_, n) => `, f q${n}`).join('')}`;
const storm = 6;

describe('a storm of one member', () =>
  withPlatform('postgres', (at) => {
    test('does not make another wait more than twice their own work, while its queries run for 30 s', async () => {
      const newMember = async (body: string) => {
        const by = at().as((await newKey(at(), 'member')).value);
        const { path } = await newConversation(at(), { client: by });
        const { id } = await upload(by, path, 'f.csv', body);
        const frame = () => by.post(`${path}/data-frames`, { source: { kind: 'file', file_id: id } });
        return { by, path, frame };
      };
      const one = await newMember('a\n1\n2\n3\n');
      const other = await newMember('a\n1\n2\n3\n');
      await ok(one.frame());
      await ok(other.frame());
      const startedAt = performance.now();
      for (let n = 0; n < 3; n++) await ok(other.frame());
      const alone = performance.now() - startedAt;
      const queries = Array.from({ length: storm }, () =>
        one.by.post(`${one.path}/data-frames/query`, { sql: endless }),
      );
      // They hold their places and wait for more.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const again = performance.now();
      for (let n = 0; n < 3; n++) await ok(other.frame());
      const meanwhile = performance.now() - again;
      console.log(`alone ${Math.round(alone)} ms, during the storm ${Math.round(meanwhile)} ms`);
      // Its own work, and twice as long a wait; the query of the other takes a core, too.
      expect(meanwhile).toBeLessThan(Math.max(3 * alone, 5_000));
      // They end by their time limit, or with a 503, or the client gave up.
      await Promise.allSettled(queries);
    }, 240_000);
  }));
