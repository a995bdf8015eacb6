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
