import { isReached, type Ratio } from './suite.js';

const ROW = 34;
const LEFT = 210;
const WIDTH = 640;
const SCALE = WIDTH - LEFT - 80;

type RatioWithGoal = Ratio & Required<Pick<Ratio, 'goal'>>;

function bar(ratio: RatioWithGoal, index: number): string {
  const { name, value, goal } = ratio;
  const [comparison, mark] = 'min' in goal ? ['at least', goal.min] : ['at most', goal.max];
  // Each ratio has its own scale, with the goal at two thirds.
  const unit = (SCALE * 2) / 3 / mark;
  const y = 40 + index * ROW;
  const width = Math.max(1, Math.min(SCALE, value * unit)).toFixed(1);
  const goalX = (LEFT + mark * unit).toFixed(1);
  return `
  <text x="${LEFT - 10}" y="${y + 15}" text-anchor="end">${name}</text>
  <rect x="${LEFT}" y="${y}" width="${width}" height="20" rx="2" fill="${isReached(ratio) ? '#2f7d5b' : '#b3412f'}"/>
  <line x1="${goalX}" y1="${y - 4}" x2="${goalX}" y2="${y + 24}" stroke="#555" stroke-dasharray="3 2"/>
  <text x="${WIDTH - 72}" y="${y + 15}">${value.toPrecision(3)}<title>${comparison} ${mark}</title></text>`;
}

/** Draws the ratios as bars with their goals as dashed lines, in a self-contained SVG. */
export function plotRatios(suite: string, all: readonly Ratio[]): string {
  const ratios = all.filter((ratio): ratio is RatioWithGoal => ratio.goal !== undefined);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${60 + ratios.length * ROW}" font-family="sans-serif" font-size="13">
  <rect width="100%" height="100%" fill="#fff"/>
  <text x="16" y="22" font-weight="bold">${suite}: ratios of one run, goals dashed</text>${ratios.map(bar).join('')}
</svg>
`;
}
