import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ok, startFixture, withPlatform } from './fixture.ts';
import {
  apply,
  audits,
  changed,
  everything,
  exported,
  exportedSecrets,
  plan,
  prepare,
  secrets,
} from './workspace-fixture.ts';

describe('a whole workspace', () =>
  withPlatform('postgres', (at) => {
    test('is created by one document, unchanged by the second, and exported the same from a copy', async () => {
      prepare(at());
      const document = everything();
      const planned = await ok(plan(at(), document));
      expect(planned.secrets_needed).toEqual(['HOUSE_MODEL_KEY', 'TOOLS_KEY', 'TRACES']);
      expect(await audits(at())).not.toContain('agent.create');
      const applied = await ok(apply(at(), document, { fingerprint: planned.fingerprint }));
      expect(applied.changes).toEqual(planned.changes);
      expect(changed(applied)).toEqual([
        'update settings settings',
        'update branding branding',
        'update default_llm default_llm',
        'create llm_configuration House model',
        'create price house-* from 2026-01-01T00:00:00.000Z',
        'create price house-1 (House model) from 2026-01-31T23:00:00.000Z',
        'create tool_server Ledger',
        'create data_connection Shop',
        'create event_connection Orders',
        'create semantic_data_model Sales',
        'create dataset Nights',
        'create agent Night clerk',
        'create agent Porter',
        'create schedule Night clerk/nightly',
        'create schedule Night clerk/weekly',
        'create trigger Night clerk/After night',
        'create trigger Night clerk/Refunds',
        'create trigger Night clerk/Stream',
        'create trigger Night clerk/A silent shop',
        'create budget Each agent',
        'create budget Each night',
        'create budget The month',
        'create integration local collector',
        'create alert_rule Half of them',
        'create alert_rule Nightly report',
        'create alert_rule Quiet clerk',
        'create channel Desk',
        'create channel Hook',
        'create channel Mail',
        'create route Errors',
        'create route Refunds',
        'create role_mapping groups=night',
        'create document_intelligence document_intelligence',
      ]);

      const before = await audits(at());
      const state = () => at().sql`select id, revision, updated_at, next_run_at from schedules order by id`;
      const schedules = await state();
      const again = await ok(apply(at(), document));
      expect(changed(again)).toEqual([]);
      expect(again.changes.length).toBe(applied.changes.length);
      expect(await audits(at())).toEqual(before);
      expect(await state()).toEqual(schedules);

      const text = await exported(at());
      expect(await exported(at())).toBe(text);
      const self = await ok(apply(at(), text, { prune: true, secrets: {} }));
      expect(changed(self)).toEqual([]);
      expect(await audits(at())).toEqual(before);
      expect(parse(await exported(at(), 'json'))).toEqual(parse(text));
      for (const value of Object.values(secrets)) {
        expect(text + JSON.stringify([planned, applied])).not.toContain(value);
      }
      expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-7|_at:/);

      await using copy = (await startFixture('embedded')).test;
      const there = { ...at(), app: copy.app, dataDir: copy.dataDir };
      prepare(there);
      const needed = (await ok(plan(there, text))).secrets_needed;
      expect(needed).toEqual(Object.keys(exportedSecrets(text)).sort());
      await ok(apply(there, text, { secrets: exportedSecrets(text), prune: true }));
      expect(await exported(there)).toBe(text);
      expect(changed(await ok(apply(there, text, { secrets: {}, prune: true })))).toEqual([]);
    });
  }));
