import { expect, test } from 'vitest';
import { junitOf } from './junit.ts';
import { readEvalOptions } from './options.ts';
import { resultsOf, type Trial } from './results.ts';
import { showWorst } from './show.ts';

const env = { AGENT_PLATFORM_KEY: 'k' };

test('options become fields of the experiment', () => {
  const read = (...args: string[]) => readEvalOptions(args, env)!;
  expect(read('Clerk', '--dataset', 'Refunds')).toEqual({
    agent: 'Clerk',
    dataset: 'Refunds',
    experiment: {},
    minScore: null,
    junit: null,
    url: 'http://127.0.0.1:8080',
    key: 'k',
  });
  const given = '--version 3 --trials 5 --on-divergence error --model recorded --min-score 0.8'.split(' ');
  expect(read('Clerk', '--dataset', 'Refunds', ...given)).toMatchObject({
    experiment: { version: 3, repetitions: 5, on_divergence: 'error', model: 'recorded' },
    minScore: 0.8,
  });
  expect(read('Clerk', '--gate', '--junit', 'out.xml')).toMatchObject({ dataset: null, junit: 'out.xml' });
  expect(readEvalOptions(['--help'], {})).toBeNull();
});

test('wrong use is told with what to do', () => {
  for (const [args, message] of [
    [[], /^Name the agent/],
    [['Clerk'], /^Name the dataset with --dataset NAME, or use --gate/],
    [['Clerk', 'hunter2', '--gate'], /^There is an argument too many/],
    [['Clerk', '--gate', '--dataset', 'Refunds'], /^--gate takes its dataset and settings from the agent/],
    [['Clerk', '--gate', '--trials', '2'], /^--gate takes its dataset/],
    [['Clerk', '--dataset', 'R', '--trials', '11'], /^--trials must be a whole number from 1 to 10/],
    [['Clerk', '--dataset', 'R', '--trials', '1.5'], /^--trials must be/],
    [['Clerk', '--dataset', 'R', '--version', 'newest'], /^--version must be draft, published or a number/],
    [['Clerk', '--dataset', 'R', '--tools', 'live'], /^--tools must be replay or idempotent_live/],
    [['Clerk', '--dataset', 'R', '--min-score', '80'], /^--min-score must be a number from 0 to 1/],
    [['Clerk', '--dataset', 'R', '--junit', ''], /^Name the file/],
  ] as const) {
    expect(() => readEvalOptions([...args], env)).toThrow(message);
  }
  expect(() => readEvalOptions(['Clerk', '--gate'], {})).toThrow(/API key of a builder/);
});

const trial = (fields: Partial<Trial>): Trial => ({
  case_id: 'a',
  case_name: 'refund',
  outcome: 'completed',
  error: null,
  score: 1,
  scores: [],
  divergences: [],
  duration_ms: 1_500,
  ...fields,
});

test('trials are grouped by their case: the worst first, those without a score last', () => {
  const results = resultsOf([
    trial({}),
    trial({
      score: 0.5,
      scores: [{ grader: 'tone', label: 'fail', explanation: 'It is rude.' }],
    }),
    trial({ case_id: 'b', case_name: 'unscored', score: null, outcome: 'error' }),
    trial({
      case_id: 'c',
      case_name: 'diverged',
      score: 0,
      outcome: 'diverged',
      divergences: [{ step: 2, kind: 'not_recorded', tool_name: 'pay' }],
    }),
  ]);
  expect(results).toMatchObject([
    { name: 'diverged', score: 0, failures: ['diverged in step 2: not_recorded pay'] },
    { name: 'refund', score: 0.75, seconds: 3, failures: ['tone: It is rude.'], errors: [] },
    { name: 'unscored', score: null, errors: ['error: '] },
  ]);
  expect(showWorst(results)).toContain('  0.75  refund\n        tone: It is rude.\n');
});

test('JUnit XML escapes what others wrote, and drops what XML cannot hold', () => {
  const cases = resultsOf([
    trial({
      case_name: 'a "quoted" <b> & \u0000\ud800 \u{1f600}',
      scores: [{ grader: 'g', label: 'fail', explanation: ']]> line\nbreak' }],
    }),
  ]);
  const xml = junitOf({ name: 'set', className: 'Clerk version 2', cases });
  expect(xml).toContain('name="a &quot;quoted&quot; &lt;b&gt; &amp; \uFFFD\uFFFD \u{1f600}" time="1.500"');
  expect(xml).toContain('<failure message="g: ]]&gt; line&#10;break">g: ]]&gt; line&#10;break</failure>');
  expect(xml).toContain('<testsuite name="set" tests="1" failures="1" errors="0" skipped="0" time="1.500">');
});
