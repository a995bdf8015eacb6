import { expect, test } from 'vitest';
import { isOwnPage } from './credentials.ts';

const publicOrigin = 'https://platform.example';
const origin = 'http://10.0.0.1:8080';
const own = (method: string, headers: Record<string, string>) =>
  isOwnPage({ method, headers, origin: () => origin }, () => publicOrigin);

const sites = [
  undefined,
  'same-origin',
  'none',
  'same-site',
  'cross-site',
  'same-origin, none',
  'Same-Origin',
  '',
];
const origins = [undefined, publicOrigin, origin, 'https://evil.example', 'null', `${publicOrigin}/`, ''];

test('Sec-Fetch-Site decides if it is there, whatever Origin and the method are', () => {
  for (const site of sites.slice(1) as string[]) {
    for (const from of origins) {
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
        const headers = { 'sec-fetch-site': site, ...(from === undefined ? {} : { origin: from }) };
        expect([site, own(method, headers)]).toEqual([site, site === 'same-origin' || site === 'none']);
      }
    }
  }
});

test('without Sec-Fetch-Site the Origin must be ours, for reads as well', () => {
  for (const from of origins.slice(1) as string[]) {
    for (const method of ['GET', 'POST']) {
      expect([from, own(method, { origin: from })]).toEqual([from, from === publicOrigin || from === origin]);
    }
  }
});

test('without both headers only a read counts', () => {
  expect(
    ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => own(method, {})),
  ).toEqual(['GET', 'HEAD']);
});
