-- wrk script: every request carries a text of its own, put together from benign chunks and a running number, so that no
-- cache of verdicts can be what is measured. One in `harmful_every` carries a demand that must be blocked.
-- Arguments: size in bytes, kind (chat | evaluate), key, harmful_every (0: none), a word that names the harmful request's file.
local words = {}
for word in ([[the a of to in and for with on from about into over after before between through during without within
please write explain describe compare summarise list plan draft translate review improve check outline suggest prepare
report letter story recipe budget schedule table lesson garden kitchen bicycle museum library station island river
mountain forest village harbour bridge market school project meeting customer product service invoice contract database
function variable module interface network server client request response header format version release feature design
green blue bright quiet simple modern careful useful short long early late local public weekly monthly annual friendly
walks reads builds grows learns teaches cooks paints repairs measures carries collects sorts opens closes follows]]):gmatch('%S+') do
  words[#words + 1] = word
end

local size, kind, key, every
local chunks, count = {}, 0
harmful = 0 -- global: read from each thread at the end
local demand
local threads = {}

function setup(thread)
  thread:set('id', #threads)
  threads[#threads + 1] = thread
end

local function chunk(length)
  local out, n = {}, 0
  while n < length do
    local word = words[math.random(#words)]
    out[#out + 1] = word
    n = n + #word + 1
  end
  return table.concat(out, ' ')
end

function init(args)
  size, kind, key, every = tonumber(args[1]), args[2], args[3], tonumber(args[4])
  demand = args[5]
  math.randomseed(os.time() + id * 7919)
  local overhead = kind == 'chat' and 120 or 40
  for i = 1, 64 do chunks[i] = chunk(math.max(8, (size - overhead) / 8)) end
  wrk.method = 'POST'
  wrk.headers['content-type'] = 'application/json'
  wrk.headers['authorization'] = 'Bearer ' .. key
  if args[6] and args[6] ~= '' then wrk.headers['x-portkey-config'] = args[6] end
  if args[6] and args[6] ~= '' then wrk.headers['x-portkey-provider'] = 'openai' end
end

function request()
  count = count + 1
  local text
  if every > 0 and count % every == 0 then
    harmful = harmful + 1
    text = demand .. ' (' .. id .. '-' .. count .. ')'
  else
    local parts = { 'note', tostring(id), tostring(count) }
    for i = 1, 8 do parts[#parts + 1] = chunks[math.random(64)] end
    text = table.concat(parts, ' ')
  end
  if kind == 'evaluate' then return wrk.format(nil, nil, nil, '{"input_text":"' .. text .. '"}') end
  return wrk.format(nil, nil, nil, '{"model":"bench","temperature":0.2,"messages":[{"role":"user","content":"' .. text .. '"}]}')
end

function done(summary, latency)
  local sent = 0
  for _, thread in ipairs(threads) do sent = sent + (thread:get('harmful') or 0) end
  io.write(string.format('RESULT {"requests":%d,"seconds":%.6f,"refused":%d,"broken":%d,"harmful":%d,"p50":%d,"p99":%d}\n',
    summary.requests, summary.duration / 1e6, summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout, sent,
    latency:percentile(50), latency:percentile(99)))
end
