-- wrk script: every request carries a text of its own, sentences put together from templates with a running number, so
-- that no cache of verdicts can be what is measured. One in `harmful_every` carries a demand that must be blocked.
-- Arguments: size in bytes, kind (chat | evaluate | agent), key, harmful_every (0: none), the demand, Portkey's configuration,
-- a file of texts, one a line, escaped as JSON, from which chunks are cut in the place of templates, and `whole` where a line is
-- all the text of a request.

-- Prose about harmless things, not a salad of words: chance must not put a demand together that a policy rightly refuses.
local templates = {
  'Please write a short letter to the %people about the %thing.',
  'The %place opens at %n and closes before dinner on Sundays.',
  'We compared the %thing with the one from last year and liked it more.',
  'Summarise the notes on the %thing in %n sentences for the %people.',
  'In spring the %people walk from the %place to the %place.',
  'The invoice for the %thing arrived %n days ago and was paid at once.',
  'Could you translate the sign at the %place into French and Portuguese?',
  'The function returns a list of %n entries, sorted by name.',
  'Our %people meet in the %place every other week to talk about the %thing.',
  'A good soup needs %n carrots, an onion and some patience.',
  'The table in chapter %n shows how the %thing was built.',
  'It rained in the afternoon, so the %people stayed in the %place.',
  'Suggest %n titles for a story that takes place near the %place.',
  'The new version of the %thing is easier to read and to maintain.',
  'Draft an agenda with %n items for the %people.',
  'The old map of the %place hangs beside the %thing.'
}
local fillers = {
  people = {'students', 'neighbours', 'customers', 'teachers', 'gardeners', 'visitors', 'engineers', 'librarians', 'musicians'},
  place = {'museum', 'library', 'harbour', 'village', 'station', 'market', 'school', 'garden', 'bridge', 'concert hall'},
  thing = {'bicycle', 'budget', 'timetable', 'kitchen', 'catalogue', 'report', 'network plan', 'recipe', 'brochure', 'piano'}
}

local size, kind, key, every
--- Of an agent's conversation.
local steps = 40
local chunks, parts, count = {}, 0, 0
local lines, history, isWhole
harmful = 0 -- global: read from each thread at the end
local demand
local threads = {}

function setup(thread)
  thread:set('id', #threads)
  threads[#threads + 1] = thread
end

local function sentence()
  local text = templates[math.random(#templates)]
  return (text:gsub('%%(%a+)', function(slot)
    if slot == 'n' then return tostring(math.random(2, 60)) end
    return fillers[slot][math.random(#fillers[slot])]
  end))
end

--- Of a file: from the start of a line of it, as many lines as are needed; cut between words, never within an escape.
local function excerpt(length)
  local text = lines[math.random(#lines)]
  while #text < length do text = text .. ' ' .. lines[math.random(#lines)] end
  local last = text:sub(1, length):match('^(.*) [^ ]*$')
  return last or lines[1]
end

--- Whole sentences, on average of the given length together.
local function chunk(length)
  if lines then return excerpt(length) end
  local out, n = {}, 0
  repeat
    local text = sentence()
    out[#out + 1] = text
    n = n + #text + 1
  until n + 30 > length
  return table.concat(out, ' ')
end

--- All but the last step of an agent's conversation: its question, then calls of a tool and their results.
function conversation()
  local said = {}
  for i = 1, steps - 1 do
    local text = chunk(size / steps - 200)
    if i == 1 then said[i] = '{"role":"user","content":"' .. text .. '"}'
    else
      said[i] = '{"role":"assistant","content":null,"tool_calls":[{"id":"c' .. i .. '","type":"function","function":{"name":"read","arguments":"{}"}}]},'
        .. '{"role":"tool","tool_call_id":"c' .. i .. '","content":"' .. text .. '"}'
    end
  end
  return table.concat(said, ',')
end

function init(args)
  size, kind, key, every = tonumber(args[1]), args[2], args[3], tonumber(args[4])
  demand = args[5]
  math.randomseed(os.time() + id * 7919)
  if args[7] and args[7] ~= '' then
    lines = {}
    for line in io.lines(args[7]) do lines[#lines + 1] = line end
  end
  if kind == 'agent' then history = conversation() end
  isWhole = args[8] == 'whole'
  local room = (kind == 'agent' and size / steps or size) - (kind == 'chat' and 120 or 40)
  parts = math.max(1, math.min(8, math.floor(room / 60)))
  if not isWhole then for i = 1, 64 do chunks[i] = chunk(room / parts) end end
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
  elseif isWhole then
    text = 'Note ' .. id .. '-' .. count .. '. ' .. lines[math.random(#lines)]
  else
    local out = { 'Note ' .. id .. '-' .. count .. '.' }
    for i = 1, parts do out[#out + 1] = chunks[math.random(64)] end
    text = table.concat(out, ' ')
  end
  if kind == 'agent' then
    return wrk.format(nil, nil, nil, '{"model":"bench","messages":[' .. history
      .. ',{"role":"assistant","content":null,"tool_calls":[{"id":"last","type":"function","function":{"name":"read","arguments":"{}"}}]}'
      .. ',{"role":"tool","tool_call_id":"last","content":"' .. text .. '"}]}')
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
