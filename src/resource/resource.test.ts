import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { id, text } from '../http/index.ts';
import { column, Group, nullable, required, resource, stamps, withDefault } from './index.ts';

const lamps = resource(
  'lamps',
  {
    name: required(text(10, 1)),
    note: nullable(text(20)),
    kind: required(z.enum(['table', 'floor'])).fixed('Cannot be changed.'),
    room_ids: withDefault(z.array(id), []).refersTo('agent', 'rooms'),
    tags: withDefault(z.array(z.string()), []).json(),
    settings: new Group({
      watts: withDefault(z.int(), 40),
      dimmed: withDefault(z.int().nullable(), null),
      colors: withDefault(z.array(z.string()), ['red']).stored({
        write: (colors) => (colors.length === 1 && colors[0] === 'red' ? null : colors),
        read: (colors: string[] | null) => colors ?? ['red'],
      }),
    }),
  },
  { id: column<string>(), ...stamps },
);

const created = z.object(lamps.create);
const patched = z.object(lamps.patch);
const row = {
  id: '1',
  name: 'A',
  note: null,
  kind: 'table' as const,
  room_ids: [],
  tags: ['x'],
  watts: 40,
  dimmed: 3,
  colors: null,
  revision: 1,
  created_at: new Date(0),
  updated_at: new Date(0),
};

describe('a resource', () => {
  test('has the columns of its fields, of its groups and of its own', () => {
    expect([...lamps.columns].sort()).toEqual(Object.keys(row).sort());
  });

  test('fills a create with its defaults, null as well as what is left out', () => {
    const given = { name: 'A', kind: 'floor', note: null, settings: { watts: null, dimmed: 2 } };
    expect(created.parse(given)).toEqual({
      name: 'A',
      kind: 'floor',
      note: null,
      room_ids: [],
      tags: [],
      settings: { watts: 40, dimmed: 2, colors: ['red'] },
    });
    expect(created.safeParse({ name: 'A' }).error?.issues[0]?.path).toEqual(['kind']);
  });

  test('reads a row with its groups, and writes what it read', () => {
    const record = lamps.read(row);
    expect(record.settings).toEqual({ watts: 40, dimmed: 3, colors: ['red'] });
    const { id: _id, revision: _revision, created_at: _created, updated_at: _updated, ...columns } = row;
    expect(lamps.write(record)).toEqual({ ...columns, tags: '["x"]' });
  });

  test('merges a change key by key, and names what it has', () => {
    const changes = patched.parse({ note: 'n', kind: 'table', settings: { dimmed: null, watts: 60 } });
    const after = lamps.merge(lamps.read(row), changes);
    expect(after).toMatchObject({ name: 'A', note: 'n', settings: { watts: 60, dimmed: null } });
    expect(lamps.changed(changes)).toEqual(['note', 'settings']);
  });

  test('a change refuses null for what cannot be null', () => {
    expect(patched.safeParse({ name: null }).success).toBe(false);
    expect(patched.safeParse({ note: null, settings: { watts: null } }).success).toBe(true);
  });

  test('names each thing that it refers to with its path', () => {
    expect(lamps.references({ room_ids: ['a', 'b'] })).toEqual([
      { path: 'room_ids[0]', to: 'agent', text: 'a' },
      { path: 'room_ids[1]', to: 'agent', text: 'b' },
    ]);
    expect(lamps.references({})).toEqual([]);
  });

  test('shows a text without its limits', () => {
    expect(z.object(lamps.shown).shape.name.safeParse('x'.repeat(99)).success).toBe(true);
  });
});
