import { beforeEach, expect, it } from 'vitest';
import { addEntries, auditParts, emptyLog } from '../../tests/harness/audit.ts';
import { eachDatabase } from '../../tests/harness/database.ts';
import { until } from '../../tests/harness/wait.ts';
import type { Loop } from '../lib/loop.ts';
import { copyLoop } from './copy.ts';
import { findChainedHash } from './store.ts';

eachDatabase((_name, open) => {
  beforeEach(() => emptyLog(open()));

  const running = async (loops: Loop[], fn: () => Promise<unknown>) => {
    for (const loop of loops) loop.start();
    await fn().finally(() => Promise.all(loops.map((loop) => loop.stop())));
  };
  const positionsOf = (lines: string): number[] =>
    lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).position);
  const upTo = (n: number) => Array.from({ length: n }, (_, index) => index + 1);

  it('copies each entry once, in order, as the API shows it, and continues after a restart', async () => {
    const parts = auditParts(open());
    await addEntries(parts, 500);
    let lines = '';
    const copying = () => [copyLoop(parts, (more) => (lines += more))];
    await running(copying(), () => until(() => positionsOf(lines).length === 500));
    expect(JSON.parse(lines.split('\n')[499]!)).toEqual({
      audit: true,
      id: expect.any(String),
      at: expect.any(String),
      principal: { kind: 'system', id: 'system', name: 'the platform' },
      action: 'thing.change',
      target_type: 'thing',
      target_id: null,
      outcome: 'done',
      details: { n: 499 },
      context: { ip: null, user_agent: null, via: 'system', key_id: null, session_id: null },
      request_id: null,
      position: 500,
      hash: await open().run((executor) => findChainedHash(executor, 500)),
    });
    await addEntries(parts, 10);
    await running(copying(), () => until(() => positionsOf(lines).length === 510));
    expect(positionsOf(lines)).toEqual(upTo(510));
  });

  it('two replicas copy each entry once between them, and again what one of them failed to write', async () => {
    const parts = auditParts(open());
    let lines = '';
    let failed = 0;
    const failing = (more: string) => {
      if (failed++ < 3) throw new Error('EPIPE');
      lines += more;
    };
    const loops = [copyLoop(parts, failing), copyLoop(parts, (more) => (lines += more))];
    await running(loops, async () => {
      for (let n = 0; n < 10; n++) await addEntries(parts, 70);
      await until(() => positionsOf(lines).length >= 700);
    });
    expect(positionsOf(lines)).toEqual(upTo(700));
  });
});
