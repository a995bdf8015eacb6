import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { client } from '../harness/http.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { adminKey } from '../harness/process.ts';
import { skipNote } from '../harness/programs.ts';
import { missing, python, pythonEnvironment } from './python.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The blocks of a README by their languages; each is compiled or run by a test here. */
const blocksOf = (readme: string): { language: string; text: string }[] =>
  [...readFileSync(join(root, readme), 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ([, language, text]) => ({ language: language!, text: text! }),
  );
const blockOf = (readme: string, language: string): string =>
  blocksOf(readme).find((block) => block.language === language)!.text;

const readmes = { typescript: 'clients/typescript/README.md', python: 'clients/python/README.md' };

describe('the examples in the READMEs of the clients', () => {
  let platform: TestPlatform;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ap-readme-'));
    platform = await startTestPlatform();
  });
  afterAll(async () => {
    await platform?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The example with the address of the platform, and with a Work Item that has ended in ERROR for `…`. */
  const example = async (readme: string, language: string): Promise<{ program: string; itemId: string }> => {
    const api = client(`${platform.origin}/api/v2`, adminKey);
    const agent = await api.post('/agents', { name: `Failing ${language}`, mode: 'worker' });
    const message = JSON.stringify({ mock: { steps: [{ error: 'rate_limited' }] } });
    const { body } = await api.post('/work-items', { agent_id: agent.body.id, message });
    await api.post(`/work-items/${body.id}/cancel`);
    const text = blockOf(readme, language);
    for (const replaced of ['https://agents.example', '…']) expect(text).toContain(replaced);
    const program = text.replace('https://agents.example', platform.origin).replace('…', body.id);
    return { program, itemId: body.id };
  };
  /** What both examples do: an agent with a schedule, and the events of the Work Item to its end. */
  const expectDone = async (output: string) => {
    const { data } = (await platform.api.get('/agents?limit=100')).body;
    const clerks = data.filter(({ name }: { name: string }) => name === 'Night clerk');
    const schedules = await platform.api.get(`/agents/${clerks[0].id}/schedules`);
    expect(schedules.body.data).toMatchObject([{ cron_expression: '30 2 * * *' }]);
    expect(output).toContain('CANCELLED');
    await platform.api.delete(`/agents/${clerks[0].id}`);
  };

  test('every block is one of those that are tested here', () => {
    const languages = Object.values(readmes).map((readme) =>
      blocksOf(readme).map(({ language }) => language),
    );
    expect(languages).toEqual([
      ['sh', 'ts'],
      ['sh', 'python'],
    ]);
    expect(blockOf(readmes.typescript, 'sh')).toContain('npm install && npm pack');
    expect(blockOf(readmes.python, 'sh')).toBe('pip install ./clients/python\n');
  });

  // Two runs of the compiler, which take a minute where other tests run beside it.
  test('TypeScript: the package is made with its license, and the example compiles and runs with it', async () => {
    const source = join(folder, 'client');
    await cp(join(root, 'clients/typescript'), source, { recursive: true });
    await rm(join(source, 'dist'), { recursive: true, force: true });
    // Its one development package is TypeScript.
    await symlink(join(root, 'node_modules'), join(source, 'node_modules'));
    await run('npm', ['pack'], { cwd: source });
    const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
    const packed = join(source, `agent-platform-client-${version}.tgz`);
    expect(blockOf(readmes.typescript, 'sh')).toContain(`agent-platform-client-${version}.tgz`);

    const project = join(folder, 'project');
    const installed = join(project, 'node_modules/agent-platform-client');
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', packed, '-C', installed, '--strip-components=1']);
    expect(existsSync(join(installed, 'LICENSE'))).toBe(true);
    await symlink(join(root, 'node_modules/@types'), join(project, 'node_modules/@types'));
    const { program } = await example(readmes.typescript, 'ts');
    await writeFile(join(project, 'package.json'), '{"type":"module"}');
    // What the block only names, a program would use.
    await writeFile(join(project, 'main.ts'), `${program}\nexport { ApiError };\n`);
    const strict = [
      '--strict',
      '--noEmitOnError',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--types',
      'node',
    ];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [tsc, ...strict, 'main.ts'], { cwd: project }).catch((failed) => {
      throw new Error(failed.stdout);
    });
    const env = { ...process.env, KEY: adminKey };
    const { stdout } = await run(process.execPath, ['main.js'], { cwd: project, env });
    await expectDone(stdout);
  }, 180_000);

  test('Python: the package names its license', () => {
    const license = readFileSync(join(root, 'LICENSE'), 'utf8');
    for (const folder of ['clients/typescript', 'clients/python'])
      expect(readFileSync(join(root, folder, 'LICENSE'), 'utf8')).toBe(license);
    expect(readFileSync(join(root, 'clients/python/pyproject.toml'), 'utf8')).toContain(
      '\nlicense-files = ["LICENSE"]\n',
    );
  });

  test.skipIf(missing !== null)(`Python: the example runs${skipNote(missing)}`, async () => {
    const { program } = await example(readmes.python, 'python');
    const env = { ...pythonEnvironment, KEY: adminKey };
    const { stdout } = await run(python!, ['-c', program], { env });
    await expectDone(stdout);
  });
});
