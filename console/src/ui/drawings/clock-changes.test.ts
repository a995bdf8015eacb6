import { expect, test } from 'vitest';
import { axisOf, clockChanges } from './clock-changes.ts';
import { ticksBetween } from './zone-time.ts';

const hour = 3_600_000;
const zone = 'Europe/Berlin';
/** 02:00 becomes 03:00, and 03:00 becomes 02:00. */
const forward = Date.UTC(2027, 2, 28, 1);
const back = Date.UTC(2027, 9, 31, 1);
const wallClock = (at: number) =>
  new Intl.DateTimeFormat('en', { timeZone: zone, hourCycle: 'h23', hour: 'numeric' }).format(at);
const hoursAround = (at: number) =>
  ticksBetween(at - 2 * hour, at + 2 * hour, zone, hour).map((tick) => wallClock(tick.at));

test('an hour that the clock leaves out has no tick, and one that it shows twice has two', () => {
  expect(hoursAround(forward)).toEqual(['00', '01', '03', '04', '05']);
  expect(hoursAround(back)).toEqual(['01', '02', '02', '03', '04']);
});

test('an hour that does not exist takes the place of an hour, and at least 12 pixels', () => {
  const changes = clockChanges([forward], zone);
  const day = axisOf(forward - 12 * hour, forward + 11 * hour, 24 * 40 + 16, changes);
  expect(changes[0]).toMatchObject({ step: hour, wallFrom: Date.UTC(2027, 2, 28, 2) });
  expect(day.gap(changes[0]!)).toBe(40);
  expect(
    [forward - 12 * hour, forward - 1, forward, forward + 11 * hour].map((at) => Math.round(day.x(at))),
  ).toEqual([8, 488, 528, 968]);
  const weeks = axisOf(forward - 168 * hour, forward + 168 * hour, 700, changes);
  expect(weeks.gap(changes[0]!)).toBe(12);
  expect(Math.round(weeks.x(forward + 168 * hour))).toBe(692);
});

test('an hour that is there twice begins before the change and ends after it', () => {
  const [change] = clockChanges([back], zone);
  expect(change).toEqual({
    at: back,
    step: -hour,
    wallFrom: Date.UTC(2027, 9, 31, 2),
    wallTo: Date.UTC(2027, 9, 31, 3),
  });
  const axis = axisOf(back - 12 * hour, back + 12 * hour, 24 * 40 + 16, [change!]);
  expect(Math.round(axis.x(back))).toBe(488);
});

test('a zone that the browser does not know is drawn in UTC, without changes of its clock', () => {
  expect(clockChanges([forward, back], 'Nowhere/Land')).toEqual([]);
  expect(ticksBetween(forward, forward + hour, 'Nowhere/Land', hour)).toHaveLength(2);
});
