import { expect, test } from 'vitest';
import { readOptions, secretsFor } from './options.ts';

const env = { AGENT_PLATFORM_KEY: 'k' };
const read = (...args: string[]) => readOptions(args, env)!;

test('options have defaults, which the environment sets', () => {
  expect(read('export')).toMatchObject({
    command: 'export',
    file: '-',
    url: 'http://127.0.0.1:8080',
    key: 'k',
  });
  expect(readOptions(['plan', '-f', 'a.yaml'], { ...env, PORT: '9' })!.url).toBe('http://127.0.0.1:9');
  const given = { ...env, AGENT_PLATFORM_URL: 'https://agents.example.com/acme/', PORT: '9' };
  expect(readOptions(['plan', '-f', 'a.yaml'], given)!.url).toBe('https://agents.example.com/acme');
  expect(read('apply', '--file=-', '--key', 'other', '--prune')).toMatchObject({ key: 'other', prune: true });
  expect(readOptions(['-h'], {})).toBeNull();
});

test('mistakes are told without the value of a secret', () => {
  for (const [args, message] of [
    [['plan'], /^Name the document with -f FILE/],
    [['destroy', '-f', 'x'], /^Say what to do/],
    [['plan', '-f', 'x', 'hunter2'], /^There is an argument too many/],
    [['plan', '-f', 'x', '--secret', 'hunter2'], /^--secret must be NAME=VALUE/],
    [['plan', '-f', 'x', '--secrets', 'A=hunter2'], /^Unknown option '--secrets'/],
    [['plan', '-f', 'x', '--secrets=A=hunter2'], /^Unknown option '--secrets'/],
    [['export', '--url', 'ftp://hunter2'], /must be an http or https address/],
  ] as const) {
    expect(() => read(...args)).toThrow(message);
    expect(() => read(...args)).not.toThrow(/hunter2/);
  }
  expect(() => readOptions(['export'], {})).toThrow(/^Give an API key/);
});

test('secrets come from the options, and from variables that the document refers to, only if asked for', () => {
  const ref = (name: string) => `\${secret:${name}}`;
  const document = `a: ${ref('A')}\nb: "Bearer ${ref('B')}"\nc: $${ref('C')}\nd: ${ref('D')}`;
  const variables = { A: '1', B: '2', C: '3', E: '5' };
  const options = ['plan', '-f', 'x', '--secret', 'A=a=b', '--secret', 'X='];
  expect(secretsFor(document, read(...options), variables)).toEqual({ A: 'a=b', X: '' });
  expect(secretsFor(document, read(...options, '--secrets-from-env'), variables)).toEqual({
    A: 'a=b',
    B: '2',
    X: '',
  });
});
