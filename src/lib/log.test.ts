import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('a process whose log no one reads any more goes on, and ends when it exits', async () => {
  const program = `
    import { createLogger } from ${JSON.stringify(join(import.meta.dirname, 'log.ts'))};
    const log = createLogger('info');
    process.stdin.once('data', () => {
      for (let i = 0; i < 3; i++) log.info('no one reads this');
      process.exit(7);
    });
    log.info('ready');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  try {
    const [line] = await once(child.stdout, 'data');
    expect(JSON.parse(line)).toMatchObject({ level: 'info', msg: 'ready' });
    child.stdout.destroy();
    await once(child.stdout, 'close');
    child.stdin.write('go on');
    expect(await once(child, 'exit')).toEqual([7, null]);
  } finally {
    child.kill('SIGKILL');
  }
});
