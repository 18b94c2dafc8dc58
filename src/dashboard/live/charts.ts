/** The library of charts, which is half of the code of the page: it is fetched while the figures are shown. */
export { BarChart, CompositeChart, LineChart } from '@mantine/charts'
export { ReferenceArea } from 'recharts'
