import { expect, it } from 'vitest';
import { clientAddress, networkOf, normalizeUrl } from './addresses.ts';

it.each([
  ['/api/v2/agents/', '/api/v2/agents'],
  ['/api/v2/agents///?x=/', '/api/v2/agents?x=/'],
  ['///', '/'],
  ['/acme/api/v2/agents/', '/api/v2/agents'],
  ['/tenants/acme/api/v2', '/api/v2'],
  ['/app/api/schedules', '/app/api/schedules'],
  ['/api/v2/agents/%zz', '/api/v2/agents/%25zz'],
])('routes %s as %s', (url, routed) => {
  expect(normalizeUrl(url)).toBe(routed);
});

it('slashes that do not end the path do not make it slower', { timeout: 30_000 }, () => {
  const url = `/api/v2/a${'/'.repeat(15_000)}x`;
  // In quadratic time this would take about a minute.
  for (let n = 0; n < 200; n++) normalizeUrl(url);
});

it('stores no text that a proxy forwards instead of an address', () => {
  const given = ['192.0.2.1', '2001:db8::1', '<script>', '192.0.2.1:80', ''];
  expect(given.map(clientAddress)).toEqual(['192.0.2.1', '2001:db8::1', 'unknown', 'unknown', 'unknown']);
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['<script>', 'unknown'],
])('counts %s as %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network);
});
