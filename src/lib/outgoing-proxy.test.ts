import { expect, test } from 'vitest';
import { parseNoProxy, parseProxy, proxyFor } from './outgoing-proxy.ts';

const proxy = parseProxy('http://proxy.example:3128')!;
const goesDirectly = (url: string, noProxy: string): boolean =>
  proxyFor({ http: proxy, https: proxy, none: parseNoProxy(noProxy) }, new URL(url)) === null;

test.each([
  ['*', 'https://anything.example/', true],
  ['a.example , *', 'http://b.example/', true],
  ['', 'http://b.example/', false],
  ['example.com', 'https://example.com/', true],
  ['example.com', 'https://api.EXAMPLE.com./', true],
  ['example.com', 'https://notexample.com/', false],
  ['.example.com', 'https://example.com/', true],
  ['.example.com', 'https://a.b.example.com/', true],
  ['*.example.com', 'https://a.example.com/', true],
  ['*.example.com', 'https://example.com/', false],
  ['example.com:8443', 'https://example.com:8443/', true],
  ['example.com:8443', 'https://example.com/', false],
  ['example.com:443', 'https://example.com/', true],
  ['example.com:80', 'http://example.com/', true],
  ['10.0.0.0/8', 'http://10.200.3.4/', true],
  ['10.0.0.0/8', 'http://11.0.0.1/', false],
  ['10.0.0.0/8', 'http://ten.example/', false],
  ['10.1.2.3', 'http://10.1.2.3:81/', true],
  ['fd00::/8', 'http://[fd12::1]/', true],
  ['fd12::1', 'http://[fd12:0::1]/', true],
  ['[fd12::1]:81', 'http://[fd12::1]:81/', true],
  ['[fd12::1]:81', 'http://[fd12::1]:82/', false],
  ['one.example two.example', 'http://two.example/', true],
])('NO_PROXY %j and %s: directly %s', (noProxy, url, directly) => {
  expect(goesDirectly(url, noProxy)).toBe(directly);
});

test.each([
  'localhost',
  'LOCALHOST.',
  'a.localhost',
  '127.0.0.1',
  '127.8.9.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '0',
  '[::]',
])('loopback never goes through a proxy: %s', (host) => {
  expect(goesDirectly(`http://${host}:8080/`, '')).toBe(true);
  expect(goesDirectly(`https://${host}/`, '')).toBe(true);
});

test('each scheme has its own proxy', () => {
  const only = { http: null, https: proxy, none: [] };
  expect(proxyFor(only, new URL('http://a.example/'))).toBeNull();
  expect(proxyFor(only, new URL('https://a.example/'))).toBe(proxy);
});

test('the address of a proxy may lack its scheme, and its credentials are not shown', () => {
  expect(parseProxy('proxy.example:3128')).toMatchObject({
    origin: 'http://proxy.example:3128',
    authorization: null,
  });
  expect(parseProxy('https://proxy.example')).toMatchObject({
    secure: true,
    port: 443,
    host: 'proxy.example',
  });
  expect(parseProxy('http://[fd12::1]:3128/')).toMatchObject({ host: 'fd12::1', shown: '[fd12::1]:3128' });
  const withCredentials = parseProxy('http://a%40b:p%3Aw%25@proxy.example:3128')!;
  expect(withCredentials.authorization!.reveal()).toBe(`Basic ${btoa('a@b:p:w%')}`);
  expect(JSON.stringify(withCredentials)).not.toMatch(/a%40b|p%3Aw|YUBi/);
  for (const wrong of ['socks5://proxy.example:1080', 'http://', '://', 'ftp://proxy.example']) {
    expect(parseProxy(wrong), wrong).toBeNull();
  }
});
