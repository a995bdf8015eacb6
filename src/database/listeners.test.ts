import { expect, it } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { until } from '../../tests/harness/wait.ts';
import { notify } from './index.ts';

eachDatabase((_name, open) => {
  it('calls a listener that was added twice once for each notification, next to the others of its channel', async () => {
    const received: string[] = [];
    const first = (payload: string | null) => void received.push(`first ${payload}`);
    const second = (payload: string | null) => void received.push(`second ${payload}`);
    for (const listener of [first, second, first]) open().listen('listeners_test', listener);
    open().listen('listeners_test_other', first);
    for (const payload of ['a', 'b']) await open().tx((tx) => notify(tx, 'listeners_test', payload));
    await open().tx((tx) => notify(tx, 'listeners_test_other', 'end'));
    await until(() => received.includes('first end'));
    expect(received).toEqual(['first a', 'second a', 'first b', 'second b', 'first end']);
  });
});
