/** Directories beyond this are not counted: a file can link them in a ring. */
const most = 1_000;

/**
 * Returns the number of pictures that a TIFF has (TIFF 6.0, section 2: a chain of directories); 1 for any other file.
 */
export const countTiffPictures = (bytes: Buffer): number => {
  const order = bytes.toString('latin1', 0, 4);
  const isLittle = order === 'II*\0';
  if (!isLittle && order !== 'MM\0*') return 1;
  const read16 = (at: number): number => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const read32 = (at: number): number => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const seen = new Set<number>();
  try {
    for (let at = read32(4); at !== 0 && !seen.has(at) && seen.size < most; ) {
      seen.add(at);
      at = read32(at + 2 + 12 * read16(at));
    }
  } catch {
    // The chain leaves the file: what was counted so far is there.
  }
  return Math.max(seen.size, 1);
};
