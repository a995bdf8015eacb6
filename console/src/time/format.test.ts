import { expect, test } from 'vitest';
import { exactTime, fullTime, relativeTime, shortDay } from './format.ts';

const now = new Date('2026-11-22T13:36:00Z');
const berlin = 'Europe/Berlin';
const exact = (at: string, zone = berlin) => exactTime(new Date(at), zone, { now });

test('an exact time is as short as it can be read without doubt', () => {
  expect(exact('2026-11-22T13:37:00Z')).toBe('14:37');
  expect(exact('2026-11-23T01:30:00Z')).toBe('Mon 02:30');
  expect(exact('2026-12-25T01:30:00Z')).toBe('25 Dec 02:30');
  expect(exact('2027-01-01T06:00:00Z')).toBe('1 Jan 2027 07:00');
});

test('a day is that of the zone', () => {
  expect(exact('2026-11-22T23:30:00Z')).toBe('Mon 00:30');
  expect(exact('2026-11-22T23:30:00Z', 'UTC')).toBe('23:30');
  expect(shortDay(new Date('2026-11-22T23:30:00Z'), berlin, now)).toBe('Mon 23 Nov');
});

test('the whole time has its zone and offset', () => {
  expect(fullTime(new Date('2026-11-23T01:30:00Z'), berlin)).toMatch(
    /^Mon 23 Nov 2026, 02:30:00 Europe\/Berlin \((CET|GMT\+1)\)$/,
  );
});

test('a zone that the browser does not know is shown in UTC', () => {
  expect(exact('2026-11-22T13:37:00Z', 'Mars/Olympus')).toBe('13:37');
});

test('a relative time is in seconds, minutes, hours and minutes, and days', () => {
  const from = (seconds: number) => relativeTime(new Date(now.getTime() + seconds * 1_000), now.getTime());
  expect([0, 24, -59, 180, -72 * 60, 11_640, 40 * 86_400].map(from)).toEqual([
    'now',
    'in 24 s',
    '59 s ago',
    'in 3 min',
    '1 h 12 min ago',
    'in 3 h 14 min',
    'in 40 days',
  ]);
});
