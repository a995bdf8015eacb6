import { expect, it } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { until } from '../../tests/harness/wait.ts';
import { notify } from './index.ts';

eachDatabase((name, open) => {
  it('calls a listener that was added twice once for each notification, next to the others of its channel', async () => {
    const received: string[] = [];
    const begun = new Set<string>();
    const listener = (who: string) => (payload: string | null) =>
      void (payload === null ? begun.add(who) : received.push(`${who} ${payload}`));
    const [first, second, other] = [listener('first'), listener('second'), listener('other')];
    for (const each of [first, second, first]) open().listen('listeners_test', each);
    open().listen('listeners_test_other', other);
    if (name === 'postgres') await until(() => begun.size === 3);
    for (const payload of ['a', 'b']) await open().tx((tx) => notify(tx, 'listeners_test', payload));
    await open().tx((tx) => notify(tx, 'listeners_test_other', 'end'));
    await until(() => received.includes('other end'));
    expect(received).toEqual(['first a', 'second a', 'first b', 'second b', 'other end']);
  });

  it.runIf(name === 'postgres')(
    'calls a listener with null when it begins to listen, because it missed what was sent before',
    async () => {
      const received: (string | null)[] = [];
      open().listen('begins_test', (payload) => void received.push(payload));
      await until(() => received.length > 0);
      await open().tx((tx) => notify(tx, 'begins_test', 'sent'));
      await until(() => received.includes('sent'));
      expect(received).toEqual([null, 'sent']);
    },
  );
});
