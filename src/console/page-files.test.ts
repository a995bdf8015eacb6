import { expect, test } from 'vitest';
import { pageTags } from './page-files.ts';

const tagsOf = pageTags([
  {
    path: '/agents/$agentId',
    files: ['/assets/agent.js'],
    operation: 'getAgent',
    reads: ['/api/v2/agents/$agentId?a=1&b=2'],
  },
  { path: '/agents/new', files: [], operation: 'createAgent' },
]);
const read = '<link rel="preload" as="fetch" crossorigin href="/api/v2/agents/0198?a=1&amp;b=2">';
const file = '<link rel="modulepreload" crossorigin href="/assets/agent.js">';

test.each([
  ['who may see the page', { path: '/agents/0198', hasQuery: false, operations: ['getAgent'] }, read + file],
  ['who may not', { path: '/agents/0198', hasQuery: false, operations: ['listAgents'] }, file],
  ['a query', { path: '/agents/0198', hasQuery: true, operations: ['getAgent'] }, file],
  ['an id that is none', { path: '/agents/%22', hasQuery: false, operations: ['getAgent'] }, file],
  ['a page of its own', { path: '/agents/new', hasQuery: false, operations: ['createAgent'] }, ''],
  ['no page', { path: '/agents', hasQuery: false, operations: ['getAgent'] }, ''],
])('what a page reads first is named for its path and its caller: %s', (_what, asked, tags) => {
  expect(tagsOf(asked)).toBe(tags);
});
