import { join } from 'node:path';
import { createCanvas, GlobalFonts } from '@napi-rs/canvas';
import { zip } from './zip.ts';

export interface PdfPage {
  /** Texts at points from the left and the top. */
  texts?: { x: number; y: number; text: string }[];
  /** Form fields: text fields, and boxes to tick. */
  fields?: { name: string; value: string | boolean }[];
  /** A JPEG that fills the page. */
  picture?: { jpeg: Buffer; width: number; height: number };
  /** Degrees by which viewers turn the page. */
  rotate?: number;
}

export const pdfPageSize = { width: 600, height: 800 };

const escapePdf = (text: string): string => text.replace(/[\\()]/g, '\\$&');

/** A PDF 1.7 of these pages in Helvetica at 12 points. `encrypted` asks for a password that no one knows. */
export const pdf = (pages: PdfPage[], { encrypted = false } = {}): Buffer => {
  const objects: (string | Buffer)[] = [];
  const add = (body: string | Buffer): number => objects.push(body);
  const stream = (entries: string, content: string | Buffer): Buffer => {
    const bytes = Buffer.from(content as string, 'latin1');
    return Buffer.concat([
      Buffer.from(`<< ${entries} /Length ${bytes.length} >>\nstream\n`),
      bytes,
      Buffer.from('\nendstream'),
    ]);
  };
  const catalog = add('');
  const tree = add('');
  const font = add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  const fields: number[] = [];
  const { width, height } = pdfPageSize;
  const kids = pages.map(({ texts = [], fields: own = [], picture, rotate = 0 }) => {
    const image =
      picture &&
      add(
        stream(
          `/Type /XObject /Subtype /Image /Width ${picture.width} /Height ${picture.height} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode`,
          picture.jpeg,
        ),
      );
    const content = texts.map(
      ({ x, y, text }) => `BT /F1 12 Tf 1 0 0 1 ${x} ${height - y} Tm (${escapePdf(text)}) Tj ET`,
    );
    if (image) content.push(`q ${width} 0 0 ${height} 0 0 cm /Im Do Q`);
    const contents = add(stream('', content.join('\n')));
    const annotations = own.map(({ name, value }, i) => {
      const rect = `/Rect [100 ${700 - i * 30} 200 ${720 - i * 30}]`;
      const kind =
        typeof value === 'boolean'
          ? `/FT /Btn /V /${value ? 'On' : 'Off'} /AS /${value ? 'On' : 'Off'} /AP << /N << /On ${contents} 0 R >> >>`
          : `/FT /Tx /V (${escapePdf(value)})`;
      return add(`<< /Type /Annot /Subtype /Widget /T (${escapePdf(name)}) ${kind} ${rect} /F 4 >>`);
    });
    fields.push(...annotations);
    const references = annotations.map((id) => `${id} 0 R`).join(' ');
    return add(
      `<< /Type /Page /Parent ${tree} 0 R /MediaBox [0 0 ${width} ${height}] /Rotate ${rotate} /Contents ${contents} 0 R /Resources << /Font << /F1 ${font} 0 R >> ${image ? `/XObject << /Im ${image} 0 R >>` : ''} >> /Annots [${references}] >>`,
    );
  });
  const list = (ids: number[]) => ids.map((id) => `${id} 0 R`).join(' ');
  objects[catalog - 1] =
    `<< /Type /Catalog /Pages ${tree} 0 R /AcroForm << /Fields [${list(fields)}] /DA (/F1 12 Tf) /DR << /Font << /F1 ${font} 0 R >> >> >> >>`;
  objects[tree - 1] = `<< /Type /Pages /Kids [${list(kids)}] /Count ${kids.length} >>`;
  const secret = `<${'ab'.repeat(32)}>`;
  const encryption = encrypted
    ? add(`<< /Filter /Standard /V 1 /R 2 /O ${secret} /U ${secret} /P -4 >>`)
    : null;
  const parts = [Buffer.from('%PDF-1.7\n')];
  let offset = parts[0]!.length;
  const offsets = objects.map((body, i) => {
    const part = Buffer.concat([
      Buffer.from(`${i + 1} 0 obj\n`),
      Buffer.from(body as string),
      Buffer.from('\nendobj\n'),
    ]);
    parts.push(part);
    offset += part.length;
    return offset - part.length;
  });
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const id = '<00112233445566778899aabbccddeeff>';
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root ${catalog} 0 R ${encryption ? `/Encrypt ${encryption} 0 R` : ''} /ID [${id} ${id}] >>\nstartxref\n${offset}\n%%EOF`,
    ),
  );
  return Buffer.concat(parts);
};

/** A PDF page for each list of lines. */
export const textPdf = (...pages: string[][]): Buffer =>
  pdf(pages.map((lines) => ({ texts: lines.map((text, i) => ({ x: 50, y: 50 + i * 20, text })) })));

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
