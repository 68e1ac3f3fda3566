-- The requests of wrk, by the arguments after `--`:
--
--   notifications FILE   the requests of a corpus, one after the other
--   reads FILE PREFIX SUFFIX [COOKIE]   a random line of a file between the parts of a path
--   path PATH [NAME VALUE]   the same request repeatedly, with a header

local threads = {}

function setup(thread)
    table.insert(threads, thread)
end

local function notifications(path)
    local file = assert(io.open(path, "rb"))
    ended = 0
    request = function()
        local length = file:read(8)
        if not length then
            ended = ended + 1
            file:seek("set", 0)
            length = file:read(8)
        end
        return file:read(tonumber(length))
    end
end

local function reads(path, prefix, suffix, cookie)
    local requests = {}
    if cookie then wrk.headers["Cookie"] = cookie end
    for line in io.lines(path) do
        requests[#requests + 1] = wrk.format("GET", prefix .. line .. suffix)
    end
    math.randomseed(1)
    request = function()
        return requests[math.random(#requests)]
    end
end

function init(args)
    if args[1] == "notifications" then
        notifications(args[2])
    elseif args[1] == "reads" then
        reads(args[2], args[3], args[4], args[5])
    else
        if args[3] then
            wrk.headers[args[3]] = args[4]
        end
        local only = wrk.format("GET", args[2])
        request = function() return only end
    end
end

function done(summary, latency)
    local errors = summary.errors
    local lost = errors.connect + errors.read + errors.write + errors.timeout
    local repeated = 0
    for _, thread in ipairs(threads) do
        repeated = repeated + (thread:get("ended") or 0)
    end
    io.write(string.format(
        "RESULT %d %d %d %d %d %d %d\n",
        summary.requests, summary.duration, errors.status, lost, repeated,
        latency:percentile(50), latency:percentile(99)))
end
