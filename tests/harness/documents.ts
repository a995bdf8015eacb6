import { join } from 'node:path';
import { createCanvas, GlobalFonts } from '@napi-rs/canvas';
import { pdf, pdfPageSize, textPdf } from './pdf.ts';
import { zip } from './zip.ts';

export { pdf, pdfPageSize, textPdf };

/** A DOCX whose body is this XML of WordprocessingML. */
export const docx = (body: string): Buffer => {
  const main = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
  const packaged = 'http://schemas.openxmlformats.org/package/2006';
  const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
  return zip([
    {
      name: '[Content_Types].xml',
      content: `<?xml version="1.0"?><Types xmlns="${packaged}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${type}"/></Types>`,
    },
    {
      name: '_rels/.rels',
      content: `<?xml version="1.0"?><Relationships xmlns="${packaged}/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    },
    {
      name: 'word/document.xml',
      content: `<?xml version="1.0"?><w:document xmlns:w="${main}"><w:body>${body}</w:body></w:document>`,
    },
  ]);
};

const font = join(
  import.meta.dirname,
  '../../node_modules/pdfjs-dist/standard_fonts/LiberationSans-Regular.ttf',
);

/** A picture of lines of text, as a scanner makes it at 150 dpi. */
export const scan = (
  lines: string[],
  type: 'image/png' | 'image/jpeg' | 'image/webp' = 'image/png',
): { bytes: Buffer; width: number; height: number } => {
  if (!GlobalFonts.has('Scan')) GlobalFonts.registerFromPath(font, 'Scan');
  const [width, height] = [900, 1_200];
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, width, height);
  context.fillStyle = 'black';
  context.font = '32px Scan';
  for (const [i, line] of lines.entries()) context.fillText(line, 80, 120 + i * 70);
  return { bytes: canvas.toBuffer(type as 'image/png'), width, height };
};

/** A PDF of scanned pages, without text. */
export const scannedPdf = (...pages: string[][]): Buffer =>
  pdf(
    pages.map((lines) => {
      const { bytes, ...size } = scan(lines, 'image/jpeg');
      return { picture: { jpeg: bytes, ...size } };
    }),
  );

/** A TIFF of small gray pictures. */
export const tiff = (pictures: number): Buffer => {
  const bytes = Buffer.alloc(8 + pictures * (2 + 8 * 12 + 4 + 16));
  bytes.write('II*\0', 'latin1');
  let at = 8;
  bytes.writeUInt32LE(at, 4);
  for (let i = 0; i < pictures; i++) {
    const data = at + 2 + 8 * 12 + 4;
    const entries = [
      [256, 4],
      [257, 4],
      [258, 8],
      [259, 1],
      [262, 1],
      [273, data],
      [278, 4],
      [279, 16],
    ] as const;
    bytes.writeUInt16LE(entries.length, at);
    for (const [n, [tag, value]] of entries.entries()) {
      const entry = at + 2 + n * 12;
      bytes.writeUInt16LE(tag, entry);
      bytes.writeUInt16LE(4, entry + 2);
      bytes.writeUInt32LE(1, entry + 4);
      bytes.writeUInt32LE(value, entry + 8);
    }
    bytes.writeUInt32LE(i + 1 < pictures ? data + 16 : 0, at + 2 + 8 * 12);
    bytes.fill(255, data, data + 16);
    at = data + 16;
  }
  return bytes;
};
