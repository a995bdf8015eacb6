import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipPart {
  name: string;
  content: string | Buffer;
  /** Sets the flag of encryption. */
  encrypted?: boolean;
}

/** A zip archive (APPNOTE.TXT 4.3) of deflated parts. */
export const zip = (parts: ZipPart[]): Buffer => {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, encrypted } of parts) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const header = Buffer.alloc(26);
    header.writeUInt16LE(20, 0);
    header.writeUInt16LE(encrypted ? 1 : 0, 2);
    header.writeUInt16LE(8, 4);
    header.writeUInt32LE(crc32(bytes), 10);
    header.writeUInt32LE(packed.length, 14);
    header.writeUInt32LE(bytes.length, 18);
    header.writeUInt16LE(name.length, 22);
    files.push(Buffer.from('PK\x03\x04'), header, Buffer.from(name), packed);
    const more = Buffer.alloc(14);
    more.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), header, more, Buffer.from(name));
    offset += 4 + 26 + name.length + packed.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, central, Buffer.from('PK\x05\x06'), end]);
};

/** A cell of a sheet: text, a number, a day (`{day: serial}`), a boolean, an error or nothing. */
export type SheetCell = string | number | boolean | null | { day: number } | { error: string };

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const cellXml = (cell: SheetCell, reference: string): string => {
  if (cell === null) return '';
  if (typeof cell === 'string') {
    return `<c r="${reference}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(cell)}</t></is></c>`;
  }
  if (typeof cell === 'number') return `<c r="${reference}"><v>${cell}</v></c>`;
  if (typeof cell === 'boolean') return `<c r="${reference}" t="b"><v>${Number(cell)}</v></c>`;
  if ('day' in cell) return `<c r="${reference}" s="1"><v>${cell.day}</v></c>`;
  return `<c r="${reference}" t="e"><f>1/0</f><v>${cell.error}</v></c>`;
};

const sheetXml = (rows: SheetCell[][]): string => {
  const xml = rows.map((row, r) => {
    const cells = row.map((cell, c) => cellXml(cell, `${String.fromCharCode(65 + c)}${r + 1}`));
    return `<row r="${r + 1}">${cells.join('')}</row>`;
  });
  const namespace = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  return `<?xml version="1.0"?><worksheet xmlns="${namespace}"><sheetData>${xml.join('')}</sheetData></worksheet>`;
};

/** The parts of a spreadsheet with these sheets. */
export const xlsxParts = (sheets: Record<string, SheetCell[][]>): ZipPart[] => {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const packaged = 'http://schemas.openxmlformats.org/package/2006';
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const names = Object.keys(sheets);
  const each = (text: (name: string, number: number) => string) =>
    names.map((name, i) => text(name, i + 1)).join('');
  return [
    {
      name: '[Content_Types].xml',
      content: `<?xml version="1.0"?><Types xmlns="${packaged}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/></Types>`,
    },
    {
      name: '_rels/.rels',
      content: `<?xml version="1.0"?><Relationships xmlns="${packaged}/relationships"><Relationship Id="r1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      content: `<?xml version="1.0"?><workbook xmlns="${main}" xmlns:r="${relations}"><sheets>${each((name, n) => `<sheet name="${name}" sheetId="${n}" r:id="s${n}"/>`)}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `<?xml version="1.0"?><Relationships xmlns="${packaged}/relationships">${each((_name, n) => `<Relationship Id="s${n}" Type="${relations}/worksheet" Target="worksheets/sheet${n}.xml"/>`)}<Relationship Id="styles" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
    },
    {
      name: 'xl/styles.xml',
      content: `<?xml version="1.0"?><styleSheet xmlns="${main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    },
    ...names.map((name, i) => ({
      name: `xl/worksheets/sheet${i + 1}.xml`,
      content: sheetXml(sheets[name]!),
    })),
  ];
};

export const xlsx = (sheets: Record<string, SheetCell[][]>): Buffer => zip(xlsxParts(sheets));
