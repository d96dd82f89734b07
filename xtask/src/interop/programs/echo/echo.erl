%% Answers over TCP and UDP with what arrives: escript echo.erl ADDRESS PORT
main([Text, Number]) ->
    {ok, Address} = inet:parse_address(Text),
    Port = list_to_integer(Number),
    Options = [binary, {ip, Address}],
    {ok, Datagrams} = gen_udp:open(Port, [{active, true} | Options]),
    {ok, Listener} = gen_tcp:listen(Port, [{active, false}, {nodelay, true}, {reuseaddr, true} | Options]),
    spawn_link(fun() -> accept(Listener) end),
    answer(Datagrams).

answer(Datagrams) ->
    receive
        {udp, Datagrams, From, Port, Bytes} ->
            gen_udp:send(Datagrams, From, Port, Bytes),
            answer(Datagrams);
        _ -> answer(Datagrams)
    end.

accept(Listener) ->
    {ok, Stream} = gen_tcp:accept(Listener),
    Server = spawn(fun() -> receive go -> echo(Stream) end end),
    gen_tcp:controlling_process(Stream, Server),
    Server ! go,
    accept(Listener).

echo(Stream) ->
    case gen_tcp:recv(Stream, 0) of
        {ok, Bytes} ->
            gen_tcp:send(Stream, Bytes),
            echo(Stream);
        {error, _} -> gen_tcp:close(Stream)
    end.
