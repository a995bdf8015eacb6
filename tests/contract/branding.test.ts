import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { onPostgres } from './fixture.ts';

/** A PNG of this size, of which only the header is true: no one decodes it here. */
const png = (width = 16, height = 16, padding = 0): string => {
  const header = Buffer.alloc(25);
  header.writeUInt32BE(13, 0);
  header.write('IHDR', 4, 'latin1');
  header.writeUInt32BE(width, 8);
  header.writeUInt32BE(height, 12);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const bytes = Buffer.concat([signature, header, deflateSync(Buffer.alloc(9)), Buffer.alloc(padding)]);
  return `data:image/png;base64,${bytes.toString('base64')}`;
};
const webp = `data:image/webp;base64,${Buffer.from(
  '524946461a000000574542505650384c0d0000002f0000001007101111888808080',
  'hex',
).toString('base64')}`;
const jpeg = `data:image/jpeg;base64,${Buffer.from(
  'ffd8ffe000104a46494600010100000100010000ffc0000b080010001001011100ffd9',
  'hex',
).toString('base64')}`;

const texts = { workspace_name: '', logo_data_url: '', logo_dark_data_url: '', primary_color: '' };
const unset = { ...texts, updated_at: null };

onPostgres((at) => {
  const patch = (body: unknown) => at().api.patch('/branding', body);
  const faults = async (body: unknown): Promise<string[]> => {
    const { status, body: response } = await patch(body);
    expect(status).toBe(422);
    return response.error.details.map(({ path }: { path: string }) => path);
  };

  test('is empty on a new installation, under v2, v1 and, without a key, for the sign-in page', async () => {
    expect((await at().api.get('/branding')).body).toEqual(unset);
    expect((await at().as(undefined).get('/branding')).status).toBe(401);
    expect((await at().as(undefined, '/app/api').get('/branding')).body).toEqual(unset);
  });

  test('keeps what is set, returns the color in lower case, and changes nothing else', async () => {
    const set = await patch({ workspace_name: '🌙 Night shift', primary_color: '#1F6FEB' });
    expect(set.status).toBe(200);
    const now = {
      workspace_name: '🌙 Night shift',
      primary_color: '#1f6feb',
      updated_at: expect.any(String),
    };
    const expected = { ...unset, ...now };
    expect(set.body).toEqual(expected);
    const logos = await patch({ logo_data_url: png(), logo_dark_data_url: webp });
    expect(logos.body).toEqual({ ...expected, logo_data_url: png(), logo_dark_data_url: webp });
    expect((await patch({ logo_data_url: jpeg })).body.logo_data_url).toBe(jpeg);
    expect((await at().as(undefined, '/app/api').get('/branding')).body.workspace_name).toBe(
      '🌙 Night shift',
    );
  });

  test('clears a field with null or an empty text', async () => {
    await patch({ workspace_name: 'A', logo_data_url: png(), primary_color: '#000000' });
    const cleared = await patch({ workspace_name: '', logo_data_url: null, logo_dark_data_url: '' });
    expect(cleared.body).toMatchObject({ workspace_name: '', logo_data_url: '', primary_color: '#000000' });
  });

  test('changes nothing at all if one field is wrong', async () => {
    const before = (await at().api.get('/branding')).body;
    expect(await faults({ workspace_name: 'Other', primary_color: 'red' })).toEqual(['primary_color']);
    expect((await at().api.get('/branding')).body).toEqual(before);
  });

  test.each([
    ['41 characters', { workspace_name: '🌙'.repeat(41) }],
    ['a line break', { workspace_name: 'a\nb' }],
    ['a line separator', { workspace_name: 'a\u2028b' }],

    ['a short color', { primary_color: '#fff' }],
    ['a name of a color', { primary_color: 'red' }],
    ['an SVG', { logo_data_url: `data:image/svg+xml;base64,${btoa('<svg/>')}` }],
    ['a GIF', { logo_data_url: `data:image/gif;base64,${btoa('GIF89a')}` }],
    ['an SVG declared as PNG', { logo_data_url: `data:image/png;base64,${btoa('<svg/>')}` }],
    ['a PNG declared as JPEG', { logo_data_url: png().replace('png', 'jpeg') }],
    ['an address', { logo_data_url: 'https://example.com/logo.png' }],
    ['a data URL with parameters', { logo_data_url: png().replace('png;', 'png;charset=utf-8;') }],
    ['base64 with a line break', { logo_data_url: png().replace(',', ',\n') }],
    [
      'base64 without padding',
      { logo_data_url: `data:image/png;base64,${btoa('\x89PNG\r\n\x1a\n').replaceAll('=', '')}` },
    ],
    ['base64 with bits after its end', { logo_data_url: 'data:image/png;base64,iVBORw0KGgp=' }],
    ['2,049 pixels', { logo_data_url: png(2_049, 10) }],
    ['no pixels', { logo_data_url: png(0, 10) }],
    ['more than 256 KiB', { logo_data_url: png(10, 10, 256 * 1024) }],
    ['a header that ends too early', { logo_data_url: `data:image/png;base64,${btoa('\x89PNG\r\n\x1a\n')}` }],
  ])('refuses %s, and names the field', async (_what, body) => {
    expect(await faults(body)).toEqual([Object.keys(body)[0]]);
  });

  test('accepts a logo of exactly 2,048 pixels a side', async () => {
    expect((await patch({ logo_data_url: png(2_048, 2_048) })).status).toBe(200);
  });

  test('is audited with the fingerprint of a logo; what changes nothing leaves the version', async () => {
    const etag = async () => (await at().api.get('/branding')).headers.get('etag');
    const before = await etag();
    await patch({});
    expect(await etag()).toBe(before);
    await patch({ workspace_name: 'C', logo_data_url: png() });
    const { body } = await at().api.get('/audits?action=branding.update&limit=1');
    expect(body.data[0]).toMatchObject({
      target_type: 'branding',
      target_id: null,
      details: { workspace_name: 'C', logo_data_url: expect.stringMatching(/^sha256:/) },
    });
    expect(JSON.stringify(body)).not.toContain('data:image');
  });
});
