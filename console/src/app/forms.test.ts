import { afterAll, describe, expect, test, vi } from 'vitest';

// The modules of the application listen to their window.
vi.stubGlobal('addEventListener', () => {});
vi.stubGlobal('document', { addEventListener: () => {} });
afterAll(() => void vi.unstubAllGlobals());
const { connectionForm } = await import('../features/data-connections/form.ts');
const { llmForm } = await import('../features/llm-configurations/form.ts');
const { toolServerForm } = await import('../features/tool-servers/form.ts');

const connection = {
  engine: 'postgres',
  name: 'Shop',
  description: null,
  tags: ['a', 'b'],
  configuration: {
    host: 'db',
    port: 5432,
    database: 'shop',
    username: 'reader',
    password_set: true,
    tls: { mode: 'verify_full', ca: null, client_certificate: null, client_key_set: false },
  },
} as unknown as Parameters<typeof connectionForm.edit.toValues>[0];

describe('the table of a form', () => {
  test('creates with what has a value, in its place, and with the fields of the kind', () => {
    const { first, toBody } = connectionForm.create;
    expect(toBody({ ...first, name: 'Shop', host: 'db', tags: 'a\n\nb' })).toEqual({
      engine: 'postgres',
      name: 'Shop',
      configuration: { host: 'db', port: 5432, database: '', username: '', tls: { mode: 'verify_full' } },
      tags: ['a', 'b'],
    });
    expect(toBody({ ...first, engine: 'sqlite', path: 'shop.db' })).toEqual({
      engine: 'sqlite',
      name: '',
      configuration: { path: 'shop.db' },
      tags: [],
    });
  });

  test('changes what differs, keeps a stored secret that was not replaced, and clears what was emptied', () => {
    const { toValues, toBody } = connectionForm.edit;
    const before = toValues(connection);
    expect(before.password).toBeNull();
    expect(toBody(before, before)).toEqual({});
    expect(toBody({ ...before, host: 'elsewhere', tls: 'require' }, before)).toEqual({
      configuration: { host: 'elsewhere', tls: { mode: 'require' } },
    });
    expect(toBody({ ...before, password: '' }, before)).toEqual({ configuration: { password: null } });
  });

  test('removes credentials that are not chosen, and never clears those that are', () => {
    const before = { ...llmForm.create.first, kind: 'bedrock' as const, access_key_id: 'AKIA' };
    const stored = { ...before, credentials: 'access_key' as const, secret_access_key: null };
    expect(llmForm.edit.toBody({ ...stored, credentials: 'api_key', api_key: 'k' }, stored)).toEqual({
      access_key_id: null,
      secret_access_key: null,
      api_key: 'k',
    });
    expect(llmForm.edit.toBody({ ...stored, secret_access_key: '' }, stored)).toEqual({
      secret_access_key: '',
    });
  });

  test('replaces a map as a whole or leaves it, and turns a part off', () => {
    const { first } = toolServerForm.create;
    const { toBody, fieldOf } = toolServerForm.edit;
    const stored = { ...first, headers: [{ name: 'x-key', value: null }], oauth: true, client_id: 'id' };
    expect(toBody(stored, stored)).toEqual({});
    expect(toBody({ ...stored, headers: [{ name: 'x-key', value: 'new' }] }, stored)).toEqual({
      headers: { 'x-key': 'new' },
    });
    expect(toBody({ ...stored, oauth: false }, stored)).toEqual({ oauth: null });
    expect(fieldOf('oauth.client_id')).toBe('client_id');
  });
});
