import { readFileSync } from 'node:fs';
import { imageSize } from 'image-size';
import { Ocr } from './documents/ocr.ts';
import type { Page } from './documents/page.ts';
import { countTiffPictures } from './documents/tiff.ts';
import { JobFault } from './fault.ts';

export interface PictureOcrInput {
  /** Codes such as `eng`, whose data is installed. */
  languages: string[];
}

export interface PictureOcr {
  page: Page;
  /** Number of pictures that the file has; the first is read. */
  pictures: number;
}

/** Limit of a picture's size by its header: a picture of a few bytes can have any size. */
const maxPixels = 100_000_000;

/** Reads the picture `source` (PNG, JPEG, WebP, TIFF). */
export const pictureOcr = async ({ languages }: PictureOcrInput): Promise<PictureOcr> => {
  const picture = readFileSync('source');
  const size = sizeOf(picture);
  if (size.width * size.height > maxPixels) {
    throw new JobFault('unreadable', 'the picture has more than 100 million pixels');
  }
  const pictures = countTiffPictures(picture);
  const ocr = await Ocr.open(languages);
  const lines = await ocr.read(picture, size);
  return { page: { page: 1, lines, aspect: size.width / size.height }, pictures };
};

/** Returns the size in pixels, as the picture is shown: the orientation of a photo may turn it. */
const sizeOf = (picture: Buffer): { width: number; height: number } => {
  try {
    const { width, height, orientation = 1 } = imageSize(picture);
    if (!(width > 0 && height > 0)) throw new Error('no size');
    return orientation >= 5 ? { width: height, height: width } : { width, height };
  } catch {
    throw new JobFault('unreadable', 'the file is not a picture that can be read');
  }
};
