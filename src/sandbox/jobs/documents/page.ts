/** A place on a page, each number from 0 to 1, from the top left. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** A part of a line, by the characters (UTF-16 units) where it begins and ends, and where it stands. */
export interface Word {
  start: number;
  end: number;
  bbox: Box;
}

export interface Line {
  /** Text without line ends. */
  text: string;
  /** Position on the page; null if the document has no layout. */
  bbox: Box | null;
  words?: Word[];
  /** Confidence of OCR, 0 to 1; absent for text that was not guessed from a picture. */
  confidence?: number;
}

export interface Page {
  /** Number of the page, from 1. */
  page: number;
  lines: Line[];
  /** Width by height of the page as it is shown; absent if what was read has no layout. */
  aspect?: number;
  /** The sign between the cells of its lines, which is no part of a number there. */
  separator?: string;
}
